"""The rows that an estimator is fitted to: opened, checked in scikit-learn's way, with weights."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import validate_data

from kernelknife._engine.data import Rows, open_rows
from kernelknife._engine.data.dask import is_dask
from kernelknife._engine.data.opening import check_sample_weight
from kernelknife._utils.arrays import is_foreign, to_host
from kernelknife._utils.inputs import FLOATS, explained_texts, make_dense

__all__ = ["check_arrays", "open_training_rows", "weigh_classes"]


def open_training_rows(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Rows:
    """Return the rows of any kind of data; sets ``n_features_in_`` and the names of the columns.

    Parameters
    ----------
    estimator : KnifeRegressor or KnifeClassifier
    X, y, sample_weight : see :meth:`KnifeRegressor.fit`
    """
    estimator.__dict__.pop("feature_names_in_", None)  # of an earlier fit
    sample_weight = weigh_classes(estimator, y, sample_weight)
    rows = open_rows(X, y, sample_weight, partial(check_arrays, estimator))
    estimator.n_features_in_ = rows.shape[1]
    if rows.names is not None:
        estimator.feature_names_in_ = rows.names
    else:
        rows.names = getattr(estimator, "feature_names_in_", None)
    return rows


def weigh_classes(estimator: Any, y: Any, sample_weight: Any) -> Any:
    """Return the sample weights, multiplied by those of the classes where there are some."""
    if estimator.class_weight is None:
        return sample_weight
    if not is_classifier(estimator):
        raise ValueError("class_weight is for classifiers: a regression has no classes.")
    if y is None or isinstance(y, str) or is_dask(y):
        raise ValueError(
            "class_weight needs the classes in memory: pass sample_weight with the weight of every "
            "row instead."
        )
    labels = np.ravel(to_host(y) if is_foreign(y) else np.asarray(y))
    factors = compute_sample_weight(estimator.class_weight, labels)
    if sample_weight is None:
        return factors
    return check_sample_weight(sample_weight, len(labels)) * factors


def check_arrays(estimator: Any, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return a table in memory and its target as arrays, in scikit-learn's way."""
    numeric = not is_classifier(estimator)
    X = make_dense(X, estimator.memory_budget)
    with explained_texts(X):
        return validate_data(
            estimator,
            X,
            y,
            dtype=FLOATS,
            ensure_all_finite=False,
            multi_output=numeric,
            y_numeric=numeric,
        )
