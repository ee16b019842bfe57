"""The score that chooses a model: one scorer, called with sample weights where it can take them."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import check_scoring

__all__ = ["Unweighted", "make_scorer", "score_name", "takes_weights"]


def make_scorer(scoring: Any, template: Any, y: np.ndarray, s: np.ndarray) -> Callable[..., float]:
    """Return the scorer; one that takes no sample weights is called without them, with a warning.

    Parameters
    ----------
    scoring : str or callable
        Anything else is refused.
    template : KnifeRegressor or KnifeClassifier
        What will be scored.
    y, s : ndarray
        Targets and sample weights of all rows.
    """
    if not (isinstance(scoring, str) or callable(scoring)):
        raise ValueError(
            "scoring must be one name or one callable, because it chooses the model; got "
            f"{type(scoring).__name__}."
        )
    scorer = check_scoring(template, scoring)
    if (s == 1).all() or takes_weights(scorer, y):
        return scorer
    warnings.warn(
        f"The scoring {score_name(scoring)!r} takes no sample weights: the folds are scored "
        "without them.",
        stacklevel=4,
    )
    return Unweighted(scorer)


def score_name(scoring: Any) -> str:
    """Return a word for pictures and reports that says what the scores are."""
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")


class Unweighted:
    """A scorer that leaves out sample weights which its score cannot take.

    Parameters
    ----------
    scorer : callable
        ``scorer(model, X, y)``.
    """

    # A class and not a function inside another, because other processes need to unpickle it.
    def __init__(self, scorer: Callable[..., float]):
        self.scorer = scorer

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        return self.scorer(estimator, X, y)


def takes_weights(scorer: Callable[..., float], y: np.ndarray) -> bool:
    """Whether a scorer takes sample weights, tried on a constant prediction."""
    dummy = DummyClassifier() if np.asarray(y).dtype.kind not in "f" else DummyRegressor()
    zeros = np.zeros((len(y), 1))
    try:
        scorer(dummy.fit(zeros, y), zeros, y, sample_weight=np.ones(len(y)))
    except TypeError:
        return False
    # Whatever else is wrong with a constant prediction is not about weights.
    except Exception:
        return True
    return True
