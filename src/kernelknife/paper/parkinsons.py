"""Parkinson's disease, splits by subject [tab_park]."""

import numpy as np
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedGroupKFold,
    StratifiedShuffleSplit,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernelknife import KnifeClassifierCV
from kernelknife.datasets import load_parkinsons
from kernelknife.paper.document import Heading, Table, Text
from kernelknife.paper.item import Claim, Item, compare

__all__ = ["Parkinsons"]

# Average weight, times selected of 100, selected by Little et al.
PAPER = {
    "DFA": (0.902, 100, "yes"),
    "MDVP:Fo(Hz)": (0.879, 100, "no"),
    "RPDE": (0.803, 100, "yes"),
    "HNR": (0.669, 87, "yes"),
    "spread2": (0.668, 83, "no"),
    "spread1": (0.388, 72, "no"),
    "D2": (0.168, 68, "yes"),
    "MDVP:Flo(Hz)": (0.133, 58, "no"),
    "MDVP:RAP": (0.229, 33, "no"),
    "PPE": (0.294, 32, "yes"),
    "Shimmer:APQ3": (0.106, 16, "no"),
}
MARGINS = 10.0 ** np.arange(-1, 4)
SPLITS = {"subjects": "halves by subject", "rows": "halves of the recordings [ours]"}


class Parkinsons(Item):
    name = "parkinsons"
    title = "Parkinson's disease"
    labels = ("tab_park",)
    repetitions = 100
    protocol = (
        "A hundred splits of the subjects into halves, with as many ill and healthy people in "
        "both. Inside the training half alone, five folds "
        "by subject choose the margin of the SVM (radial, gamma = 1/p) and the sparsity of KNIFE "
        "(radial, squared hinge, alpha = 1); columns are standardised by the training half. The "
        "file has 32 subjects, 24 of them ill; the paper says 31 and 23. The second set of "
        "splits ignores who spoke: recordings of one person stand on both sides."
    )

    def check(self):
        load_parkinsons()

    def repeat(self, seed, quick):
        data = load_parkinsons()
        X, y = data.data, data.target.to_numpy()
        groups = data.groups.to_numpy()
        splits = {
            "subjects": _by_subject(y, groups, seed),
            "rows": next(StratifiedShuffleSplit(1, test_size=0.5, random_state=seed).split(X, y)),
        }
        rows, weights = [], []
        for split, (train, test) in splits.items():
            A, B, a, b = X.iloc[train], X.iloc[test], y[train], y[test]
            search = GridSearchCV(
                make_pipeline(StandardScaler(), SVC(gamma=1.0 / X.shape[1])),
                {"svc__C": MARGINS},
                cv=StratifiedGroupKFold(5),
            ).fit(A, a, groups=groups[train])
            knife = KnifeClassifierCV(alphas=1.0, cv=5, sparsities=20 if quick else 40)
            knife.fit(A, a, groups=groups[train])
            share = max(b.mean(), 1 - b.mean())
            for method, model, kept in (
                ("SVM", search, X.shape[1]),
                ("KNIFE", knife, int(knife.get_support().sum())),
            ):
                rows.append(
                    {
                        "split": split,
                        "method": method,
                        "test_error": float(np.mean(model.predict(B) != b)),
                        "constant_error": float(1 - share),
                        "features": kept,
                    }
                )
            weights += [
                {"split": split, "feature": name, "weight": float(weight)}
                for name, weight in zip(X.columns, knife.weights_, strict=True)
            ]
        return {"parkinsons": rows, "parkinsons_weights": weights}

    def _selected(self, tables):
        """Return times selected and mean weight where selected, most often selected first."""
        frame = tables["parkinsons_weights"]
        frame = frame[frame["split"] == "subjects"]
        on = frame[frame["weight"] > 0].groupby("feature")["weight"]
        table = on.agg(["count", "mean"]).sort_values(["count", "mean"], ascending=False)
        return table, frame["repetition"].nunique()

    def report(self, tables):
        frame = tables["parkinsons"]
        rows = []
        for split, title in SPLITS.items():
            for method in ("SVM", "KNIFE"):
                part = frame[(frame["split"] == split) & (frame["method"] == method)]
                rows.append(
                    (
                        f"{method}, {title}",
                        compare(part["test_error"]),
                        compare(part["features"], 1),
                        compare(part["constant_error"]),
                        ("0 (all 100 splits)" if split == "subjects" else "not in the paper"),
                    )
                )
        table, splits = self._selected(tables)
        features = []
        for name, (count, mean) in list(table.iterrows())[:11]:
            published = PAPER.get(name)
            features.append(
                (
                    name,
                    f"{mean:.3f}",
                    f"{int(count)}/{splits}",
                    *(
                        (f"{published[0]:.3f}", f"{published[1]}/100", published[2])
                        if published
                        else ("not in the table", "", "")
                    ),
                )
            )
        return [
            Table(("method", "test error", "features", "largest class", "paper"), tuple(rows)),
            Heading("Features that KNIFE selects most often, splits by subject", 3),
            Table(
                (
                    *("feature", "mean weight where selected", "times selected"),
                    *("paper: weight", "paper: times", "Little et al."),
                ),
                tuple(features),
            ),
            Text(
                "The paper's perfect separation in all hundred trials is not reached and cannot "
                "be with the subjects kept apart: 16 people train and 16 others test, and even the "
                "recordings of one person do not always fall on one side. The paper chose its "
                "parameters by cross-validation on all individuals before splitting them, so that "
                "the test half had a part in the choice, and it does not say whether columns were "
                "scaled with all rows in view. Neither explains an error of zero. Ignoring who "
                "spoke brings the error down by much, as the second set of splits shows: a split "
                "that is not truly by individuals is the likeliest reason."
            ),
        ]

    def claims(self, tables):
        frame = tables["parkinsons"]
        mean = frame.groupby(["split", "method"])["test_error"].mean()
        features = frame[(frame["method"] == "KNIFE") & (frame["split"] == "subjects")]["features"]
        table, _ = self._selected(tables)
        top = list(table.index[:11])
        shared = [name for name in top if name in PAPER]
        always = [name for name in ("DFA", "MDVP:Fo(Hz)", "RPDE") if name in table.index[:8]]
        knife, svm = mean["subjects", "KNIFE"], mean["subjects", "SVM"]
        return [
            Claim(
                "Both methods separate ill from healthy perfectly in all splits by subject.",
                f"mean test errors {knife:.3f} (KNIFE) and {svm:.3f} (SVM)",
                bool(max(knife, svm) == 0),
            ),
            Claim(
                "KNIFE is as good as the SVM with fewer features (within 0.02).",
                f"{knife:.3f} against {svm:.3f}",
                bool(knife <= svm + 0.02),
            ),
            Claim(
                "KNIFE chooses eight features on average (6 to 10).",
                compare(features, 1),
                bool(6 <= features.mean() <= 10),
            ),
            Claim(
                "Its most frequent features are those of the paper's table (at least 6 of 11).",
                f"{len(shared)} of 11 shared: {', '.join(shared)}",
                len(shared) >= 6,
            ),
            Claim(
                "DFA, MDVP:Fo(Hz) and RPDE are among the eight most frequent.",
                ", ".join(always) or "none of them",
                len(always) == 3,
            ),
        ]


def _by_subject(y, groups, seed):
    """Return training and test rows of two halves of the subjects, alike in both classes."""
    subjects, first = np.unique(groups, return_index=True)
    halves = StratifiedShuffleSplit(1, test_size=0.5, random_state=seed)
    train, _ = next(halves.split(subjects, y[first]))
    chosen = np.isin(groups, subjects[train])
    return np.flatnonzero(chosen), np.flatnonzero(~chosen)
