"""The rooms of the package: who may import whom, what stays private, which parameters agree.

The tests read the source with ``ast`` and run none of it.
"""

import ast
import inspect
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import kernelknife
from kernelknife import (
    KnifeClassifier,
    KnifeClassifierCV,
    KnifeRegressor,
    KnifeRegressorCV,
    knife_path,
)
from kernelknife.app.selection import select_features

SOURCE = Path(kernelknife.__file__).parent
TESTS = Path(__file__).parent

# From top to bottom: a room imports from its own layer and from those above it.
LAYERS = (
    ("_support",),
    ("forms", "basis", "kernels", "losses", "groups", "_rates"),
    ("_rows",),
    ("_prepare",),
    ("_problem",),
    ("solvers",),
    ("_search",),
    ("model",),
    ("effects", "substitutes"),
    ("_fitting",),
    ("estimators",),
    ("path", "_spectral", "_turns"),
    ("_choice",),
    ("model_selection", "baselines", "datasets", "stability"),
    ("knockoffs", "components", "discriminant", "canonical", "canonical_path"),
    ("tables", "selection", "storage", "exploration"),
    ("display", "rates_display", "report", "paper", "cli", "__main__"),
)
DEPTH = {room: depth for depth, layer in enumerate(LAYERS) for room in layer}

# Result objects draw themselves and show themselves in notebooks. They import what draws them when
# they are asked to, so that neither matplotlib nor the report is needed before.
DRAWN_LATER = {
    ("path", "report"),
    ("path", "display"),
    ("canonical_path", "display"),
    ("substitutes", "display"),
    ("selection.result", "report"),
}

# scikit-learn's protocol for callbacks has underscores in it: an estimator's author calls these.
FOREIGN_PROTOCOL = {"_init_callback_context"}

# These two open the rows and build the problem: they have to look at what they are given.
FACTORIES = {"_rows.opening", "_problem.factory"}

# Modules that have no test file of their own, by where their truths are tested instead.
TESTED_ELSEWHERE = {
    "cli/_reproduce.py": "cli/test_app.py",  # two lines around paper.runner
    "cli/progress.py": "cli/test_app.py",  # what the command shows while it works
    "datasets/_measured.py": "test_datasets.py",
    "datasets/_simulated.py": "test_datasets.py",
    "paper/figures.py": "paper/test_runner.py",  # a quick run draws and judges every item
    "paper/item.py": "paper/test_runner.py",
    "paper/simulations.py": "paper/test_runner.py",
    **{
        f"paper/{item}.py": "paper/test_runner.py"
        for item in (
            *("colon", "convergence", "linear", "orange", "parkinsons", "penalties"),
            *("sinusoidal", "vowel"),
        )
    },
    "report/elements.py": "report/test_page.py",  # pieces of one page, tested as a page
    "report/pieces.py": "report/test_page.py",
    "report/question.py": "report/test_page.py",
    "report/verdict.py": "cli/test_select.py",  # the sentence that command and page share
    "selection/result.py": "selection/test_select.py",
    "tables/errors.py": "tables/test_checks.py",
    "tables/notes.py": "tables/test_delimited.py",
}


@dataclass(frozen=True)
class Module:
    """A module of the package, parsed."""

    path: Path

    @property
    def parts(self) -> tuple[str, ...]:
        """The dotted name inside the package, in parts; a package is its ``__init__``."""
        parts = self.path.relative_to(SOURCE).with_suffix("").parts
        return parts[:-1] if parts[-1] == "__init__" else parts

    @property
    def name(self) -> str:
        return ".".join(self.parts)

    @property
    def package(self) -> tuple[str, ...]:
        """The package that the module stands in."""
        return self.parts if self.path.name == "__init__.py" else self.parts[:-1]

    @property
    def tree(self) -> ast.Module:
        return _parse(self.path)


@cache
def _parse(path):
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


MODULES = [
    Module(path)
    for path in sorted(SOURCE.rglob("*.py"))
    if path != SOURCE / "__init__.py"  # it imports on first use, by name
]


def each_module(function):
    return pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)(function)


def is_module(parts):
    return (SOURCE.joinpath(*parts).with_suffix(".py")).is_file() or (
        SOURCE.joinpath(*parts) / "__init__.py"
    ).is_file()


def own_imports(module):
    """Yield ``(line, module parts, name)`` of every import from the package itself.

    ``name`` is None where a whole module is imported.
    """
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = tuple(alias.name.split("."))
                if parts[0] == "kernelknife":
                    yield node.lineno, parts[1:], None
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module.name}:{node.lineno} has a relative import"
            parts = tuple(node.module.split("."))
            if parts[0] != "kernelknife":
                continue
            for alias in node.names:
                inside = (*parts[1:], alias.name)
                if is_module(inside):
                    yield node.lineno, inside, None
                elif len(inside) == 1 and alias.name in kernelknife._HOMES:
                    # What the package offers to users lies in a module of its own.
                    yield node.lineno, (kernelknife._HOMES[alias.name],), alias.name
                else:
                    yield node.lineno, parts[1:], alias.name


# -- layers ---------------------------------------------------------------------------------------


def test_every_room_has_a_layer():
    rooms = {module.parts[0] for module in MODULES}
    assert rooms == set(DEPTH)


def layer_violations(module):
    for line, parts, name in own_imports(module):
        if not parts:
            assert name == "__version__", f"{module.name}:{line} imports {name}"
            continue
        room = parts[0]
        if DEPTH[room] > DEPTH[module.parts[0]] and (module.name, room) not in DRAWN_LATER:
            yield f"{module.name}:{line} imports from {'.'.join(parts)}, a layer below its own"


@each_module
def test_no_module_imports_from_a_layer_below(module):
    assert not list(layer_violations(module))


def inside_functions(module):
    functions = (n for n in ast.walk(module.tree) if isinstance(n, ast.FunctionDef))
    return {id(node) for function in functions for node in ast.walk(function)}


def test_what_is_drawn_later_is_imported_late_and_the_list_has_nothing_else():
    seen = set()
    for module in MODULES:
        late = inside_functions(module)
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.ImportFrom) or not node.module.startswith("kernelknife."):
                continue
            room = node.module.split(".")[1]
            if (module.name, room) in DRAWN_LATER:
                assert id(node) in late, f"{module.name} imports {room} when it is imported"
                seen.add((module.name, room))
    assert seen == DRAWN_LATER


# -- privacy --------------------------------------------------------------------------------------


def is_private(name):
    return name.startswith("_") and not name.endswith("__")


def defined_names(module):
    """Return the private names that a module defines, attributes of its objects included."""
    names = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and of_itself(node):
            names.add(node.attr)
    return names


def of_itself(node):
    """Whether an attribute is one of ``self`` or ``cls``."""
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def privacy_violations(module):
    for line, parts, name in own_imports(module):
        if name is not None and is_private(name):
            yield f"{module.name}:{line} imports {name} of {'.'.join(parts)}"
        # A package such as _rows is private to kernelknife, a module such as cli._select to cli.
        private_module = is_private(parts[-1]) and len(parts) > 1 if parts else False
        if private_module and parts[:-1] != module.package:
            yield f"{module.name}:{line} imports the private module {'.'.join(parts)}"
    known = defined_names(module) | FOREIGN_PROTOCOL
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Attribute) or not is_private(node.attr):
            continue
        if not of_itself(node) and node.attr not in known:
            where = ast.unparse(node)
            yield f"{module.name}:{node.lineno} uses {where}, which another module defines"


@each_module
def test_nothing_private_is_used_from_another_module(module):
    assert not list(privacy_violations(module))


# -- no questions about kinds ---------------------------------------------------------------------


@cache
def kinds():
    """Return the names of all classes of problems and of rows."""
    bases = {
        node.name: {ast.unparse(base) for base in node.bases}
        for module in MODULES
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
    }
    found = {"Problem", "Rows"}
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found


def test_the_kinds_are_known():
    expected = {"ExactProblem", "NystromProblem", "ArrayRows", "ParquetRows", "ClusterRows"}
    assert expected <= kinds()


def last_name(node):
    """Return the last name of an expression such as ``job.problem``, nothing for others."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def question_violations(module):
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        asked = node.func.id
        if asked in ("isinstance", "issubclass"):
            about = {last_name(part) for part in ast.walk(node.args[1])} & kinds()
            if about and module.name not in FACTORIES:
                yield f"{module.name}:{node.lineno} asks for {', '.join(sorted(about))}"
        elif asked in ("getattr", "hasattr", "type") and node.args:
            thing = last_name(node.args[0]).lstrip("_")
            if thing in ("problem", "rows", "solver"):
                yield f"{module.name}:{node.lineno} asks what {ast.unparse(node.args[0])} is"


@each_module
def test_no_module_asks_which_problem_rows_or_solver_it_has(module):
    assert not list(question_violations(module))


# -- these tests can fail -------------------------------------------------------------------------

BAD = {
    "from kernelknife.estimators import KnifeRegressor": layer_violations,
    "def later():\n    from kernelknife.app.report import build_report": layer_violations,
    "from kernelknife import KnifeRegressor": layer_violations,
    "from kernelknife._engine.model import _same": privacy_violations,
    "from kernelknife.datasets._measured import COLON": privacy_violations,
    "def look(path):\n    return path._trace": privacy_violations,
    "def ask(x):\n    return isinstance(x, ExactProblem)": question_violations,
    "def ask(x):\n    return isinstance(x, (int, arrays.ArrayRows))": question_violations,
    "def ask(job):\n    return hasattr(job.problem, 'centers')": question_violations,
    "def ask(rows):\n    return getattr(rows, 'client', None)": question_violations,
    "def ask(solver):\n    return type(solver) is int": question_violations,
}


@pytest.mark.parametrize("code", BAD)
def test_a_violation_is_seen(code, tmp_path, monkeypatch):
    folder = tmp_path / "solvers"
    folder.mkdir()
    (folder / "new.py").write_text(code)

    class Guest(Module):
        parts = ("solvers", "new")

    found = list(BAD[code](Guest(folder / "new.py")))
    assert len(found) == 1, found


# -- tests lie where the source does --------------------------------------------------------------


def test_every_module_has_a_test_file_of_its_own():
    missing = []
    for module in MODULES:
        place = module.path.relative_to(SOURCE)
        if place.name in ("__init__.py", "__main__.py"):
            continue
        own = place.with_name(f"test_{place.name.removeprefix('_')}")
        expected = TESTED_ELSEWHERE.get(place.as_posix(), own.as_posix())
        if not (TESTS / expected).is_file():
            missing.append(f"{place}: there is no tests/{expected}")
        elif place.as_posix() in TESTED_ELSEWHERE and (TESTS / own).is_file():
            missing.append(f"{place} has tests/{own}: take it off the list of those without")
    assert not missing, "\n".join(missing)


# -- one list of parameters -----------------------------------------------------------------------

SINGLE_ONLY = {"alpha", "sparsity", "refresh_centers", "learn_weights"}
CV_ONLY = {"alphas", "sparsities", "include_all", "rule", "scoring", "cv", "search_rows"}
# Cross-validation can choose among several values of these, and does so by default.
CHOSEN_BY_FOLDS = {"kernel": "auto", "relax": "auto", "n_centers": "auto"}


def defaults(function):
    """Return the default of every parameter that has a name."""
    named = (p for p in inspect.signature(function).parameters.values() if p.name != "self")
    return {p.name: p.default for p in named if p.kind is not p.VAR_KEYWORD}


def test_both_tasks_share_one_list():
    assert KnifeRegressor.__init__ is KnifeClassifier.__init__
    assert KnifeRegressorCV.__init__ is KnifeClassifierCV.__init__


def test_cross_validation_has_the_parameters_of_the_single_estimator():
    single, chosen = defaults(KnifeRegressor), defaults(KnifeRegressorCV)
    assert set(single) - set(chosen) == SINGLE_ONLY
    assert set(chosen) - set(single) == CV_ONLY
    shared = [name for name in single if name not in SINGLE_ONLY]
    assert shared == [name for name in chosen if name not in CV_ONLY], "they stand in one order"
    same = {name: single[name] for name in shared} | CHOSEN_BY_FOLDS
    assert {name: chosen[name] for name in shared} == same


def test_a_path_takes_every_parameter_of_the_estimator(monkeypatch):
    single, named = defaults(KnifeRegressor), defaults(knife_path)
    assert {name: named[name] for name in named if name in single} == {
        name: single[name] for name in ("kernel", "loss", "alpha")
    }
    templates = []
    monkeypatch.setattr("kernelknife.path._run", lambda template, *_: templates.append(template))
    X, y = [[0.0], [1.0]], [0.0, 1.5]
    knife_path(X, y)
    assert templates[-1].get_params() == single
    # A parameter that is passed on arrives; those that a path has in its own way are refused.
    for name in single:
        given = {name: f"a value of {name}"} if name != "loss" else {"loss": "huber"}
        if name in ("sparsity", "n_features_to_select"):
            with pytest.raises(TypeError, match=f"takes no {name}"):
                knife_path(X, y, **given)
            continue
        knife_path(X, y, **given)
        assert templates[-1].get_params(deep=False) == {**single, **given}
    with pytest.raises(TypeError, match="unexpected keyword"):
        knife_path(X, y, bandwidth=1.0)


def test_a_selection_begins_with_the_estimators_kernel_and_loss():
    chosen, search = defaults(select_features), defaults(KnifeRegressorCV)
    for name in ("kernel", "loss", "rule", "n_centers", "n_jobs"):
        assert chosen[name] == search[name], name
