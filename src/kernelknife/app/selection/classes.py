"""How well single classes are predicted: which are taken for which, and which rows are wrong.

The misclassification rate is of little use where one class is rare. All figures here come from the
models of the selected candidate on the training rows of every fold, and from the test rows of that
fold.
"""

import numpy as np
from sklearn.metrics import roc_auc_score

from kernelknife.app.selection.result import ClassQuality, WrongRow

__all__ = ["judge_classes"]


def judge_classes(models, splits, X, y, row_names) -> ClassQuality:
    """Return which classes are taken for which on the test rows of the folds.

    A row that is tested several times, because the folds are repeated, counts once in all.

    Parameters
    ----------
    models : list of KnifeClassifier
        One per fold, fitted on its training rows.
    splits : list of (ndarray, ndarray)
    X, y : ndarray
    row_names : ndarray of str
    """
    classes = np.unique(y)
    votes = np.zeros((len(y), len(classes)))
    areas = []
    for model, (_, test) in zip(models, splits, strict=True):
        predicted = model.predict(X[test])
        votes[test, np.searchsorted(classes, predicted)] += 1.0
        areas.append(_area(model, X[test], y[test], classes))
    tested = votes.sum(axis=1)
    shares = votes / np.maximum(tested, 1.0)[:, None]
    codes = np.searchsorted(classes, y)
    confusion = np.array([shares[codes == i].sum(axis=0) for i in range(len(classes))])
    counts = confusion.sum(axis=1)
    errors = 1.0 - np.divide(
        np.diag(confusion), counts, out=np.full(len(classes), np.nan), where=counts > 0
    )
    known = [area for area in areas if area is not None]
    return ClassQuality(
        classes=tuple(str(label) for label in classes),
        confusion=confusion,
        class_errors=errors,
        balanced_error=float(np.nanmean(errors)),
        area=float(np.mean(known)) if known else None,
        wrong_rows=_wrong_rows(shares, codes, classes, row_names),
    )


def _area(model, X, y, classes):
    """Return the area under the ROC curve of one fold, the mean over classes for more than two."""
    there = np.unique(y)
    if len(there) < 2:
        return None
    scores = model.decision_function(X)
    if len(classes) == 2:
        return roc_auc_score(y == classes[1], scores)
    places = np.searchsorted(classes, there)
    return np.mean([roc_auc_score(y == classes[j], scores[:, j]) for j in places])


def _wrong_rows(shares, codes, classes, row_names):
    """Return the rows that are taken for another class, the most frequently wrong first."""
    wrong = shares.copy()
    wrong[np.arange(len(codes)), codes] = 0.0
    total = wrong.sum(axis=1)
    rows = [i for i in np.argsort(-total, kind="stable") if total[i] > 0]
    return tuple(
        WrongRow(
            str(row_names[i]), str(classes[codes[i]]), str(classes[wrong[i].argmax()]), total[i]
        )
        for i in rows
    )
