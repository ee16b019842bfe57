"""The losses by name."""

from typing import Any

from kernelknife._utils.checks import resolve
from kernelknife.losses.base import Loss
from kernelknife.losses.classes import Hinge, HuberizedHinge, LogisticLoss, SquaredHinge
from kernelknife.losses.counts import GammaLoss, NegativeBinomialLoss, PoissonLoss, TweedieLoss
from kernelknife.losses.numbers import HuberLoss, SquaredLoss
from kernelknife.losses.quantiles import ExpectileLoss, QuantileLoss
from kernelknife.losses.survival import CoxLoss

__all__ = ["COUPLED_LOSSES", "LOSSES", "check_loss"]

LOSSES: dict[str, type[Loss]] = {
    "squared": SquaredLoss,
    "huber": HuberLoss,
    "quantile": QuantileLoss,
    "expectile": ExpectileLoss,
    "poisson": PoissonLoss,
    "negative_binomial": NegativeBinomialLoss,
    "gamma": GammaLoss,
    "tweedie": TweedieLoss,
    "squared_hinge": SquaredHinge,
    "huberized_hinge": HuberizedHinge,
    "hinge": Hinge,
    "logistic": LogisticLoss,
}
# Those that are no sums over rows.
COUPLED_LOSSES: dict[str, type[Loss]] = {"cox": CoxLoss}


def check_loss(loss: Any, task: str) -> Loss:
    """Return a :class:`Loss` for a name or an instance, made for the task.

    Parameters
    ----------
    loss : str or Loss
    task : {"regression", "classification", "survival"}

    Returns
    -------
    Loss
    """
    every = LOSSES | COUPLED_LOSSES
    known = {name: cls for name, cls in every.items() if cls.task == task}
    if isinstance(loss, str) and loss in every and loss not in known:
        raise ValueError(
            f"The loss {loss!r} is for {every[loss].task}; for {task} choose one of "
            f"{', '.join(sorted(known))}."
        )
    resolved = resolve(loss, known, Loss, "loss")  # type: ignore[type-abstract]  # not called
    if resolved.task != task:
        raise ValueError(f"{resolved!r} is a loss for {resolved.task}, not for {task}.")
    return resolved
