"""The loss of an estimator, and the methods that an estimator has only with some losses."""

from collections.abc import Callable
from types import MethodType
from typing import Any

from sklearn.base import is_classifier

from kernelknife.losses import Loss, check_loss

__all__ = ["ProbabilityMethod", "gives_probabilities", "resolved_loss"]

DEFAULT_LOSSES = {"regression": "squared", "classification": "squared_hinge"}


def resolved_loss(estimator: Any) -> Loss:
    """Return the loss of an estimator as an object, checked against the estimator's task."""
    task = "classification" if is_classifier(estimator) else "regression"
    loss = DEFAULT_LOSSES[task] if estimator.loss is None else estimator.loss
    return check_loss(loss, task)


def gives_probabilities(estimator: Any) -> bool:
    """Whether the loss has probabilities; decided before a fit, as scikit-learn expects."""
    return getattr(_known_loss(estimator), "probability", None) is not None


def _known_loss(estimator: Any) -> Any:
    """Return the loss, or what stands for it where a fit will refuse it."""
    try:
        return resolved_loss(estimator)
    except (TypeError, ValueError):
        return estimator.loss


class ProbabilityMethod:
    """A method that exists only where the loss has probabilities, and else says which loss has.

    Parameters
    ----------
    function : callable
        The method.
    """

    def __init__(self, function: Callable):
        self.function = function
        self.__doc__ = function.__doc__

    def __get__(self, estimator: Any, owner: Any = None) -> Any:
        if estimator is None:
            return self.function
        if not gives_probabilities(estimator):
            raise AttributeError(
                f"{self.function.__name__} needs loss='logistic': {_known_loss(estimator)!r} has "
                "scores, from decision_function, and no probabilities."
            )
        return MethodType(self.function, estimator)
