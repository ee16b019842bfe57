"""Bad input and options that contradict each other: one sentence each, before any search.

A line is what a user types after ``select``, and how the answer begins. ``REST`` leaves out the
columns of the table that need a decision first.
"""

import re
import shlex

import numpy as np
import pandas as pd
import pytest

from kernelknife import KnifeClassifierCV, KnifeRegressorCV
from kernelknife.survival_cv import KnifeSurvivalCV

REST = "--drop id,date,text,when"
REFUSED = """
t.csv -t nothing | There is no column 'nothing': there are 21 columns, from
t.csv -t Visit | There is no column 'Visit': did you mean 'visits' or
t.csv -t visits,dose | A selection has one target, got visits, dose: select for
t.csv -t visits --drop nothing | There is no column 'nothing': there are 21 columns, from
t.csv -t visits --drop visits | 'visits' is the target; it cannot be left out as well.
t.csv -t visits --drop visits,dose | 'visits' is the target; it cannot be left out as well.
t.csv -t visits --id visits | 'visits' is the target; it cannot be left out as well.
t.csv -t visits --keep g0 --adjust-for g0 | 'g0' is kept; it cannot be adjusted for as well: ask
t.csv -t visits --keep visits | 'visits' is the target; it cannot be kept as well: ask for
t.csv -t visits --adjust-for visits | 'visits' is the target; it cannot be adjusted for as well:
t.csv -t visits --adjust-for nothing | There is no column 'nothing': there are 21 columns, from
t.csv -t visits --keep g0 --drop g0 | 'g0' is left out; it cannot be kept as well: ask for one
t.csv -t flat | Column date holds dates.
t.csv -t empty | The target empty has no value in any row: name another
t.csv -t id | Column date holds dates.
t.csv -t text | Column date holds dates.
t.csv -t sex --task regression REST | The target sex holds texts, which is no number to predict.
t.csv -t sex --quantile 0.5 REST | A quantile is that of a number, and the target sex was
t.csv -t few --quantile 0.5 --task classification REST | A quantile is that of a number, and
t.csv -t dose --quantile 0 REST | A quantile lies between 0 and 1, got 0.
t.csv -t dose --quantile 1 REST | A quantile lies between 0 and 1, got 1.
t.csv -t dose --quantile 90 REST | A quantile lies between 0 and 1, got 90.
t.csv -t dose --quantile a REST | A quantile is a number between 0 and 1, or several of
t.csv -t dose --quantile 0.1,b REST | A quantile is a number between 0 and 1, or several of
t.csv -t dose --quantile , | A quantile is a number between 0 and 1, or several of
t.csv -t dose --quantile 0.5 --loss poisson REST | A quantile has a loss of its own.
t.csv -t dose --quantile 0.5 --class-weight balanced REST | Class weights are for classes; the
t.csv -t dose --quantile 0.5 --centers 50 REST | The loss of a quantile has no model on centers.
t.csv -t dose --quantile 0.5 --event few REST | A quantile is that of a number, and times with an
t.csv -t visits --exposure years REST | An exposure belongs to counts, which are proportional to
t.csv -t visits --exposure years --loss squared REST | An exposure belongs to counts, which are
t.csv -t visits --exposure nothing --loss poisson REST | There is no column 'nothing': there are 21
t.csv -t visits --exposure visits --loss poisson REST | 'visits' is the target; it cannot be the
t.csv -t visits --exposure sex --loss poisson REST | The exposure sex holds texts, and it is a
t.csv -t visits --exposure zero --loss poisson REST | The exposure zero is zero or negative in 3
t.csv -t visits --exposure neg --loss poisson REST | The exposure neg is zero or negative in
t.csv -t visits --exposure gap --loss poisson REST | The exposure gap is missing in
t.csv -t visits --exposure empty --loss poisson REST | The exposure empty is missing in 60 rows.
t.csv -t visits --exposure years --loss poisson --adjust-for years REST | 'years' is the exposure;
t.csv -t visits --exposure years --loss poisson --drop years,id,date,text,when | 'years' is the
t.csv -t visits --exposure years --loss poisson --fdr 0.1 REST | Knockoffs do not know exposures.
t.csv -t visits --exposure years --event few | An exposure is that of a number, and times with an
t.csv -t sex --exposure years --loss poisson REST | The loss poisson is for a number, and the
t.csv -t dose --loss poisson REST | The target dose is negative in
t.csv -t halves --loss poisson REST | The target halves is not whole in 26 rows (such as 5.5),
t.csv -t zero --loss gamma REST | The target zero is zero in 3 rows, and the loss gamma is
t.csv -t neg --loss gamma REST | The target neg is negative in
t.csv -t neg --loss tweedie REST | The target neg is negative in
t.csv -t halves --loss negative_binomial REST | The target halves is not whole in 26 rows (such as
t.csv -t dose --loss logistic --task regression REST | The loss logistic is for classes, and the
t.csv -t sex --loss squared REST | The loss squared is for a number, and the target sex was
t.csv -t sex --loss poisson REST | The loss poisson is for a number, and the target sex was
t.csv -t years --event few --loss poisson REST | A time with an event has a loss of its own, Cox's.
t.csv -t years --event visits REST | The event visits is neither 0 (censored) nor 1 (observed)
t.csv -t years --event nothing | There is no column 'nothing': there are 21 columns, from
t.csv -t years --event years | 'years' is the target; it cannot be the event as well.
t.csv -t years --event sex REST | The column sex holds texts: a time is a number, and an
t.csv -t neg --event few REST | The time neg is negative in
t.csv -t years --event nought REST | All 60 rows are censored: without an observed event
t.csv -t years --event few --task regression | A target with an event is a time until it, and no
t.csv -t dose --log nothing | There is no column 'nothing': there are 21 columns, from
t.csv -t dose --log dose | 'dose' is the target; it cannot be replaced by its
t.csv -t dose --log zero REST | Column zero has no logarithm in 3 values of zero or less,
t.csv -t dose --log neg REST | Column neg has no logarithm in
t.csv -t dose --log sex REST | Column sex holds texts, and a logarithm is that of a
t.csv -t dose --log g0 --levels g0 REST | 'g0' is a column of levels; it cannot have a log as well:
t.csv -t dose --log g0 --drop g0 | 'g0' is left out; it cannot be replaced by its logarithm
t.csv -t dose --log zz* | There is no column 'zz*': there are 21 columns, from g0,
t.csv -t dose --order nothing | There is no column 'nothing': there are 21 columns, from
t.csv -t dose --order dose | 'dose' is the target; it cannot be the order of the rows
t.csv -t dose --order id --drop date,text,when | The column id does not show the order of the rows:
t.csv -t dose --order gap REST | The time of the rows, gap, is missing in
t.csv -t dose --order when --drop id,date,text | The column when does not show the order of the
t.csv -t dose --order date --group sex --drop id,text,when | Rows belong together by their group or
t.csv -t dose --forward | Folds that go forward need the time of the rows.
t.csv -t dose --order date --fdr 0.1 --drop id,text,when,sex,site | Knockoffs need rows that are
t.csv -t dose --groups nothing.csv REST | There is no file nothing.csv.
t.csv -t dose --groups sex REST | sex is a column, and groups of columns come from a file of
t.csv -t dose --groups head.csv REST | head.csv must have the columns column and group, got g0,
t.csv -t dose --groups other.csv REST | other.csv names no column of the table (but x): the names
t.csv -t dose --groups twice.csv REST | Column g0 is in the groups A and B, and a column has one
t.csv -t dose --groups name.csv REST | The group g1 has the name of a column that is not in it.
t.csv -t dose --groups good.csv --keep g0 REST | Column g0 is kept or adjusted for on its own, and
t.csv -t dose --groups good.csv --fdr 0.1 REST,sex,site | Knockoffs are made of single columns, and
t.csv -t dose --groups good.csv -k 500 REST | 500 features asked for, the table has 12 to choose
t.csv -t dose --groups sets.gmt REST | Column g1 is in the groups A and B, and a column has one
t.csv -t dose --groups bad.gmt REST | bad.gmt, line 1: a gene set is a name, a description and
t.csv -t dose --groups nothing.gmt REST | There is no file nothing.gmt.
t.csv -t dose --levels dose | 'dose' is the target; it cannot have levels as well: ask
t.csv -t dose --group nothing | There is no column 'nothing': there are 21 columns, from
t.csv -t dose --group dose | 'dose' is the target; it cannot be the group as well.
t.csv -t dose --group gap REST | The group gap is missing in
t.csv -t dose --group sex REST | 5 folds need as many groups, got 2.
t.csv -t dose | Column date holds dates.
t.csv -t dose --drop id,text,when | Column date holds dates.
t.csv -t dose --drop id,date,when | Column text holds free text ('a long sentence of 0 words
t.csv -t dose --dates days --drop date,id,text,when | Dates are to become days, but no column holds
t.csv -t dose --impute median --drop-missing | Missing values can be filled in or their rows left
t.csv -t dose --hold-out 1 REST | The share to hold out must lie between 0 and 1, got 1.
t.csv -t dose --hold-out -0.5 REST | The share to hold out must lie between 0 and 1, got -0.5.
t.csv -t dose --hold-out 0.99 REST | Holding out 0.99 of 60 rows leaves too few: 10 rows are
t.csv -t dose --hold-out x REST | The rows to hold out are a share such as 0.25, or a column
t.csv -t dose --hold-out sex=z REST | No row has sex=z: there are f, m.
t.csv -t dose --folds 1 | Invalid value for '--folds': Input should be greater than
t.csv -t dose --folds 100 REST | 100 folds need as many rows, got 60.
t.csv -t sex --folds 50 REST | 50 folds need 50 rows of every class of sex, and some have
t.csv -t dose -k 0 REST | The number of features must be at least 1, got 0.
t.csv -t dose -k 99 REST | 99 features asked for, the table has 13 to choose from.
t.csv -t dose -k 2 --sparsity 1 REST | Give a sparsity or a number of features, not both.
t.csv -t dose --sparsity -1 REST | sparsity must be a number >= 0, got -1.0.
t.csv -t dose --alpha 0 REST | alpha must be a number > 0, got 0.0.
t.csv -t dose --alpha -1 REST | alpha must be a number > 0, got -1.0.
t.csv -t dose --jobs 0 REST | The number of processes cannot be 0.
t.csv -t dose --permutations 3 REST | 3 permutations of the target cannot show anything at the
t.csv -t dose --level 2 REST | The level must be a share between 0 and 1, got 2.
t.csv -t dose --max-false 2 REST | A number of false columns belongs to stability selection.
t.csv -t dose --stability --max-false 0 REST | The number of false columns must be above 0, got 0.
t.csv -t dose --stability --fdr 0.1 REST | Ask for stability or for a false discovery rate, not
t.csv -t dose --fdr 2 REST | The false discovery rate must lie between 0 and 1, got 2.
t.csv -t dose --nested full -k 2 REST | A search inside every fold is for penalties that
t.csv -t dose --class-weight balanced REST | Class weights are for classes; the target dose is a
t.csv -t dose --kernel rbf --loss hinge REST | The loss hinge is for classes, and the target dose
t.csv -t dose --kernel gaussian | Invalid value for '--kernel': Value error, 'gaussian' is
t.csv -t dose --loss cox | Invalid value for '--loss': Value error, 'cox' is not one
t.csv -t dose --report r.pdf | r.pdf has the ending of another format: a report is one
t.csv -t dose --save m.pkl | m.pkl has the ending of another format: a model has a
t.csv -t dose --table r.html | r.html has the ending of another format: a table is CSV
t.csv -t dose --table o.xls | o.xls has the ending of another format: a table is CSV
t.csv -t dose --table t.csv | t.csv is read by this command and would be overwritten:
t.csv -t dose --report r.html --save r.html | r.html holds another result of this command and would
t.csv -t dose --report no/such/r.html | no/such/r.html cannot be written: there is no folder
t.csv -t dose --sql x.sql | t.csv is read at once: --sql and --checkpoint are for rows
t.csv -t dose --config nothing.toml | nothing.toml cannot be read: No such file or directory.
t.csv -t dose --config unknown.toml | unknown.toml has the option tarket, which the command does
t.csv -t dose --config broken.toml | broken.toml is not written as TOML (Expected '=' after a
t.csv -t dose --config kind.toml | kind.toml: folds must be one value, got [1, 2].
t.csv -t dose --config flag.toml | flag.toml: quick must be true or false, got 'yes'.
t.csv -t dose --sheet one | t.csv has no sheets: a sheet can be chosen of an Excel
t.csv -t dose --decimal ,, | The decimal mark must be one character, got ',,'.
t.csv -t dose --decimal . --thousands . | The decimal mark and the mark of thousands must be
t.csv -t dose --encoding utf-7000 | Unknown encoding 'utf-7000'; for example utf-8 or latin-1.
t.json -t dose | t.json is JSON, by its ending: save the table as CSV,
http://example.org/t.csv -t dose | http://example.org/t.csv is an address: download the file
s3//bucket/t.csv -t dose | There is no file s3/bucket/t.csv.
nothing.csv -t dose | There is no file nothing.csv.
three.csv -t y | The target y has 3 different values in 3 rows, too many
head_only.csv -t y | head_only.csv has a header and no rows.
one.csv -t y | There is no column left to choose from beside the target
twice_named.csv -t y | twice_named.csv has columns of the same name: x.
genes.csv -t y | There is no column 'y', but the first column holds it: the
t.csv | Missing option '--target' / '-t' / '--time'.
""".strip().splitlines()
# What the refusal above advises, and what is then accepted: the search begins.
ACCEPTED = """
t.csv -t visits --drop dose REST
t.csv -t dose --quantile 0.9 REST
t.csv -t dose --quantile 0.9,0.1 REST
t.csv -t dose --quantile 0.5 --adjust-for sex REST
t.csv -t dose --quantile 0.5 --centers 0 REST
t.csv -t visits --exposure years --loss poisson REST
t.csv -t few --quantile 0.5 --task regression REST
t.csv -t halves --loss tweedie REST
t.csv -t zero --loss tweedie REST
t.csv -t neg --loss squared REST
t.csv -t sex --loss logistic REST
t.csv -t years --event few REST
t.csv -t visits --exposure years --loss poisson --stability REST
t.csv -t dose --log g* REST
t.csv -t dose --log g0,g1 --log g2 REST
t.csv -t dose --drop zero REST
t.csv -t dose --order date --drop id,text,when
t.csv -t dose --order date --forward --stability --drop id,text,when
t.csv -t dose --group sex --folds 2 REST
t.csv -t dose --group id --drop date,text,when
t.csv -t dose --levels id --drop date,text,when
t.csv -t dose --dates days --drop id,text,when
t.csv -t dose --groups good.csv --stability REST
t.csv -t dose --groups good.csv --adjust-for sex REST
t.csv -t dose --groups good.csv -k 12 REST
t.csv -t dose --keep flat REST
t.csv -t dose --hold-out 0.25 REST
t.csv -t dose --folds 60 REST
t.csv -t dose --permutations 0 REST
t.csv -t dose --permutations 19 REST
t.csv -t dose --config good.toml
""".strip().splitlines()


class SearchError(Exception):
    """The search has begun, which a refusal must not let happen."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    rng, n = np.random.default_rng(0), 60
    frame = pd.DataFrame(np.exp(rng.normal(size=(n, 4))), columns=[f"g{i}" for i in range(4)])
    frame["years"] = rng.uniform(0.5, 4, n).round(3)
    frame["visits"] = rng.poisson(frame.years * np.exp(0.2 + 0.5 * np.log(frame.g1)))
    frame["dose"] = np.log(frame.g2) + rng.normal(size=n)
    frame["halves"] = frame.visits + rng.choice([0, 0.5], n)
    frame["date"] = pd.date_range("2020-01-01", periods=n).strftime("%Y-%m-%d")
    frame["when"] = ["2020-01-01"] * 3 + ["soon"] * (n - 3)
    frame["id"] = [f"p{i}" for i in range(n)]
    frame["text"] = [f"a long sentence of {i} words that nobody reads twice" for i in range(n)]
    frame["sex"], frame["site"] = rng.choice(["m", "f"], n), rng.choice(["A", "B", "C"], n)
    frame["flat"], frame["empty"], frame["nought"] = 1, np.nan, 0
    frame["gap"] = np.where(rng.random(n) < 0.2, np.nan, rng.random(n) + 0.1)
    frame["neg"], frame["few"] = rng.normal(size=n), rng.integers(0, 2, n)
    frame["zero"] = np.where(np.arange(n) < 3, 0, frame.years)
    frame.to_csv(folder / "t.csv", index=False)
    files = {
        "good.csv": "column,group\ng0,A\ng1,A\ng2,B\n",
        "head.csv": "g0,A\ng1,A\n",
        "other.csv": "column,group\nx,A\n",
        "twice.csv": "column,group\ng0,A\ng1,A\ng0,B\n",
        "name.csv": "column,group\ng0,g1\ng2,g1\n",
        "sets.gmt": "A\tx\tg0\tg1\nB\tx\tg1\tg2\n",
        "bad.gmt": "A g0 g1\n",
        "good.toml": 'drop = ["id,date,text,when"]\nquantile = [0.1, 0.9]\nquick = true\n',
        "unknown.toml": "tarket = 'dose'\n",
        "broken.toml": "target: dose\n",
        "kind.toml": "folds = [1, 2]\n",
        "flag.toml": "quick = 'yes'\n",
        "t.json": "[]",
        "three.csv": "x,y\n1,2\n2,1\n3,4\n",
        "head_only.csv": "x,y\n",
        "one.csv": "y\n1\n2\n",
        "twice_named.csv": "x,x,y\n1,2,3\n",
        "genes.csv": "gene,s1,s2\ny,1,2\na,2,3\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def select(folder, monkeypatch, call):
    """Return a function that runs select on a line, where no search can be made."""
    monkeypatch.chdir(folder)

    def fit(*_, **__):
        raise SearchError

    for kind in (KnifeRegressorCV, KnifeClassifierCV, KnifeSurvivalCV):
        monkeypatch.setattr(kind, "fit", fit)

    def run(line):
        jobs = [] if "--jobs" in line else ["--jobs=1"]
        return call("select", *shlex.split(line.replace("REST", REST)), *jobs)

    return run


@pytest.mark.parametrize("line", REFUSED)
def test_bad_input_is_refused_in_a_sentence_before_any_search(select, line):
    arguments, _, beginning = line.rpartition(" | ")
    code, out, err = select(arguments)
    assert code == 2
    assert out == ""
    (last,) = (one for one in err.splitlines() if re.match("(kernelknife|Error): ", one))
    assert last.partition(": ")[2].startswith(beginning)
    assert last.endswith((".", "?", "2", "'--target' / '-t' / '--time'."))


@pytest.mark.parametrize("line", ACCEPTED)
def test_what_a_refusal_advises_is_accepted(select, line):
    with pytest.raises(SearchError):
        select(line)
