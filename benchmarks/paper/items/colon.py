"""Colon cancer: test errors and correlations of the chosen genes [tab_colon, tab_colon_cor]."""

import numpy as np
from baselines import SIS, KernelRFE
from document import Heading, Table, Text
from item import Claim, Item, format_mean
from sklearn.model_selection import GroupShuffleSplit, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelknife import knife_path
from kernelknife.datasets import load_colon

__all__ = ["Colon"]

SUBSETS = (2000, 500, 250, 100, 50, 25, 15, 10)  # numbers of genes, as in the paper
# The paper's test errors of SIS + SVM, RFE + SVM and KNIFE, and its median correlations of the
# genes of SIS and of KNIFE, by number of genes.
PAPER = {
    2000: ("0.0355", "0.0355", "0.0387", "0.5913", "0.5913"),
    500: ("0.0419", "0.1290", "0.0484", "0.6365", "0.5969"),
    250: ("0.0516", "0.1452", "0.0516", "0.6451", "0.5981"),
    100: ("0.0613", "0.1677", "0.0710", "0.6534", "0.5951"),
    50: ("0.0645", "0.1774", "0.0806", "0.6674", "0.5964"),
    25: ("0.0677", "0.1742", "0.0871", "0.6652", "0.5898"),
    15: ("0.0742", "0.1484", "0.1065", "0.6910", "0.5946"),
    10: ("0.0968", "0.1581", "0.1194", "0.7139", "0.5895"),
}
METHODS = ("SIS + SVM", "RFE + SVM", "KNIFE")
# RFE drops 50 genes at a time while more than 1,000 are left, then 10 down to 100, then one by one.
STEPS = [(1000, 50), (100, 10), (0, 1)]
SPLITS = {"rows": "random halves", "patients": "halves by patient [ours]"}
C = 0.5  # SVC's C for alpha = 1


class Colon(Item):
    """Test errors of linear models on the genes that three methods choose."""

    name = "colon"
    title = "Colon cancer genes"
    labels = ("tab_colon", "tab_colon_cor")
    repetitions = 10
    quick_repetitions = 1
    protocol = (
        "The 62 tissues are split into halves ten times, stratified by class. The features are "
        "logarithms of the intensities, standardized by the training half; all models are "
        "linear with alpha = 1 (C = 0.5). Genes are ranked and chosen in the training half "
        "alone. RFE drops 50 genes at a time down to 1,000, then 10 at a time down to 100, then "
        "one by one. KNIFE takes the point of its path that has the wanted number of genes and "
        "refits the SVM at its weights. A second set of splits keeps both tissues of a patient "
        "in the same half. The correlations are medians of the absolute pairwise correlations of "
        "the logarithms over all 62 tissues."
    )

    def check(self):
        load_colon()

    def repeat(self, seed, quick):
        colon = load_colon()
        X, y = np.log(colon.data.to_numpy()), (colon.target == "tumor").to_numpy().astype(int)
        correlation = np.abs(np.corrcoef(X.T))
        splits = {
            "rows": StratifiedShuffleSplit(1, test_size=31, random_state=seed).split(X, y),
            "patients": GroupShuffleSplit(1, test_size=0.5, random_state=seed).split(
                X, y, colon.groups
            ),
        }
        rows = []
        for split, pairs in splits.items():
            train, test = next(pairs)
            for k, method, genes, wrong in _selections(X, y, train, test):
                pairwise = correlation[np.ix_(genes, genes)][np.triu_indices(len(genes), 1)]
                rows.append(
                    {
                        "split": split,
                        "genes": k,
                        "method": method,
                        "test_error": float(wrong.mean()),
                        "median_correlation": float(np.median(pairwise)),
                    }
                )
        return {"colon": rows}

    def report(self, tables):
        frame = tables["colon"]
        elements = []
        for split, title in SPLITS.items():
            elements += [
                Heading(f"Test error, {title}", 3),
                _error_table(frame[frame["split"] == split]),
            ]
        return [
            *elements,
            Heading("Median absolute correlation of the chosen genes", 3),
            _correlation_table(frame[frame["split"] == "rows"]),
            Text(
                "The paper's errors of 0.04 are not reached, not even with all 2,000 genes, where "
                "no method can make a mistake in selecting. Different halves of 31 tissues give "
                "different errors by chance (see the standard errors), but the mean over ten "
                "splits does not change by a factor of four. A likely reason is that in the paper "
                "genes were chosen, or data scaled or filtered, with the help of all 62 tissues, "
                "which we do not do; the paper does not describe its preprocessing. The splits by "
                "patient show whether it helps to have a patient's other tissue in the training "
                "half."
            ),
            Text(
                "The correlations depend on the preprocessing as well: over all genes we get 0.46 "
                "for logarithms and 0.43 for raw intensities, where the paper has 0.59. This does "
                "not affect the comparison within our table."
            ),
        ]

    def claims(self, tables):
        frame = tables["colon"]
        rows = frame[frame["split"] == "rows"]
        error = rows.pivot_table(index="genes", columns="method", values="test_error")
        correlation = rows.pivot_table(index="genes", columns="method", values="median_correlation")
        fewer = [k for k in SUBSETS if k < 2000]
        beats = [k for k in fewer if error["KNIFE"][k] < error["RFE + SVM"][k]]
        sis = [k for k in fewer if k <= 50 and error["SIS + SVM"][k] < error["KNIFE"][k]]
        small = [k for k in fewer if k <= 50]
        less = [k for k in fewer if correlation["KNIFE"][k] < correlation["SIS + SVM"][k]]
        whole = correlation["KNIFE"][2000]
        apart = max(abs(correlation["KNIFE"][k] - whole) for k in fewer)
        return [
            Claim(
                "With all 2,000 genes the SVM errs on 0.0355 of the test tissues.",
                f"{error['SIS + SVM'][2000]:.4f}",
                bool(abs(error["SIS + SVM"][2000] - 0.0355) < 0.02),
            ),
            Claim(
                "KNIFE outperforms RFE for all subsets.",
                f"for {len(beats)} of {len(fewer)}",
                len(beats) == len(fewer),
            ),
            Claim(
                "For small subsets (50 genes and fewer) SIS has the lowest error.",
                f"below KNIFE for {len(sis)} of {len(small)}",
                len(sis) == len(small),
            ),
            Claim(
                "SIS selects more highly correlated genes than KNIFE.",
                f"for {len(less)} of {len(fewer)} subsets",
                len(less) == len(fewer),
            ),
            Claim(
                "KNIFE's genes have about the median correlation of all genes (within 0.1).",
                f"largest difference {apart:.3f}",
                bool(apart <= 0.1),
            ),
        ]


def _selections(X, y, train, test):
    """Yield, for every subset and method, the genes chosen and which test tissues are wrong."""
    scaler = StandardScaler().fit(X[train])
    A, B = scaler.transform(X[train]), scaler.transform(X[test])
    rankings = {
        "SIS + SVM": SIS().fit(A, y[train]).ranking_,
        "RFE + SVM": KernelRFE(kernel="linear", step=STEPS).fit(A, y[train]).ranking_,
    }
    path = knife_path(A, y[train], kernel="linear", loss="hinge")
    for k in SUBSETS:
        for method in METHODS:
            if method == "KNIFE":
                model = path.at(n_features=k)
                genes = np.flatnonzero(model.weights_)
                wrong = model.predict(B) != y[test]
            else:
                genes = np.flatnonzero(rankings[method] <= k)
                svm = SVC(C=C, kernel="linear").fit(A[:, genes], y[train])
                wrong = svm.predict(B[:, genes]) != y[test]
            yield k, method, genes, wrong


def _error_table(part):
    """Return our test errors beside those of the paper, one row per number of genes."""
    header = ["genes"]
    for method in METHODS:
        header += [method, "paper"]
    rows = []
    for k in SUBSETS:
        cells = [str(k)]
        for j, method in enumerate(METHODS):
            here = part[(part["genes"] == k) & (part["method"] == method)]
            cells += [format_mean(here["test_error"]), PAPER[k][j]]
        rows.append(tuple(cells))
    return Table(tuple(header), tuple(rows))


def _correlation_table(part):
    """Return our median correlations beside those of the paper, one row per number of genes."""
    rows = []
    for k in SUBSETS:
        here = part[part["genes"] == k].groupby("method")["median_correlation"].mean()
        cells = [str(k), f"{here['SIS + SVM']:.4f}", PAPER[k][3], f"{here['KNIFE']:.4f}"]
        rows.append((*cells, PAPER[k][4]))
    return Table(("genes", "SIS + SVM", "paper", "KNIFE", "paper"), tuple(rows))
