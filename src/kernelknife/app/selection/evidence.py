"""Evidence beside a selection: which columns beat noise, and which carry information on their own.

A selection is the fewest columns that predict. Permutations of the target say which of the columns
are stronger than the strongest column of noise; tests of single columns list everything that says
something about the target, whether it is needed or not.
"""

import warnings
from dataclasses import dataclass

import numpy as np

from kernelknife._engine.data.survival import survival_columns
from kernelknife._tuning.candidates import GRID, SearchSpec
from kernelknife._tuning.splits import rows_of_splits
from kernelknife.app.options import SelectOptions
from kernelknife.app.tables import TableEncoder
from kernelknife.inspection.information import carries_information
from kernelknife.losses import CoxLoss

__all__ = [
    "BLOCKS",
    "LISTED",
    "AgainstNoise",
    "ColumnInformation",
    "compare_with_noise",
    "find_information",
]

BLOCKS = 20  # of neighboring rows in time, within which rows are alike
LISTED = 0.05  # false discovery rate at which columns are said to carry information


@dataclass(frozen=True)
class AgainstNoise:
    """Columns that are stronger than the strongest column of noise.

    Attributes
    ----------
    p_value : float
        Of the statement that the target is independent of all columns.
    p_values : dict of float
        Adjusted p-value of every column by its name, which claims that there is something and that
        the column is stronger than the strongest of noise: weak control of the family-wise error.
    selected : tuple of str
        Columns whose adjusted p-value is at most the level, the strongest first.
    n_permutations, n_steps : int
    level : float
    """

    p_value: float
    p_values: dict[str, float]
    selected: tuple[str, ...]
    n_permutations: int
    n_steps: int
    level: float

    def to_json(self) -> dict:
        """Return the evidence as a dict that ``json.dumps`` accepts."""
        values = {n: None if np.isnan(p) else p for n, p in self.p_values.items()}
        return {**vars(self), "selected": list(self.selected), "p_values": values}


@dataclass(frozen=True)
class ColumnInformation:
    """What one column says about the target on its own.

    Attributes
    ----------
    p_value, q_value : float
    share : float
        Share of the variance of the target's ranks, or of its classes, that the column explains.
    shape : str
        How a number changes with it: see :class:`kernelknife.inspection.Information`; of two
        classes the one with the higher values, or the one at both ends or in the middle.
    class_means : dict of float
        Mean of the column by class, the geometric one where its logarithm is used; empty for
        numbers, text columns and groups of columns.
    """

    p_value: float
    q_value: float
    share: float
    shape: str
    class_means: dict[str, float]

    @property
    def listed(self) -> bool:
        """Whether the column is said to carry information."""
        return self.q_value < LISTED


def compare_with_noise(
    search, encoder: TableEncoder, groups: np.ndarray | None, options: SelectOptions
) -> AgainstNoise | None:
    """Return which columns of the selected kernel's path are stronger than noise.

    None where no permutations are wanted, for a quick look, and where columns are adjusted for that
    leave nothing which rows could exchange: of times until an event, or of counts.

    Parameters
    ----------
    search : KnifeRegressorCV or KnifeClassifierCV
        Fitted.
    encoder : TableEncoder
    groups : ndarray or None
        Group of every row of the selection.
    options : SelectOptions
    """
    if not options.n_permutations or options.quick:
        return None
    spec = SearchSpec.from_estimator(search).fit
    exchanged = spec.task == "classification" or spec.loss.scale_target
    if search.adjust_for is not None and not exchanged:
        return None
    rows = rows_of_splits(search.splits_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # paths of noise may converge badly
        found = search.path_.calibrate(
            n_permutations=options.n_permutations,
            level=options.level,
            alpha=GRID.calibrated_alpha,
            groups=None if groups is None else groups[rows],
            blocks=None if options.order is None else max(len(rows) // BLOCKS, 1),
            n_jobs=options.n_jobs,
            random_state=options.random_state,
        )
    firsts = encoder.first_of_units
    selected = [name for name, j in firsts.items() if found.support[j]]
    return AgainstNoise(
        p_value=float(found.p_value),
        p_values={name: float(found.adjusted_p_values[j]) for name, j in firsts.items()},
        selected=tuple(sorted(selected, key=lambda name: -found.strengths[firsts[name]])),
        n_permutations=options.n_permutations,
        n_steps=found.n_steps,
        level=options.level,
    )


def find_information(
    encoder: TableEncoder,
    X: np.ndarray,
    y: np.ndarray,
    task: str,
    exposure: np.ndarray | None = None,
) -> dict[str, ColumnInformation]:
    """Return what every column of a table says about the target on its own.

    Parameters
    ----------
    encoder : TableEncoder
    X, y : ndarray
    task : {"regression", "classification", "survival"}
        Of times until an event the martingale residuals of a model without columns are explained.
    exposure : ndarray, default=None
        Of counts. What is explained is then how far they are from their mean at the mean rate, in
        standard deviations.
    """
    if exposure is not None:
        mean = exposure * y.sum() / exposure.sum()
        y = (y - mean) / np.sqrt(mean)
    if task == "survival":
        risk = CoxLoss().bind(survival_columns(y), np.ones(len(y)), 1)
        y, task = -risk.slope(np.zeros((len(y), 1)))[:, 0], "regression"
    found = carries_information(X, y, task=task, feature_groups=encoder.feature_groups_)
    return {
        name: ColumnInformation(
            float(found.p_values[j]),
            float(found.q_values[j]),
            float(found.shares[j]),
            _shape_in_words(found.shapes[j], found.classes),
            {}
            if name not in encoder.medians_
            else {
                str(label): float(encoder.in_units_of(name, mean))
                for label, mean in zip(found.classes, found.class_means[:, j], strict=True)
            },
        )
        for name, j in encoder.first_of_units.items()
    }


def _shape_in_words(shape: str, classes: tuple) -> str:
    """Return the shape of a column's information, with the name of a class where there are two."""
    if len(classes) != 2:
        return shape
    first, second = classes
    named = {
        "rises": f"higher for {second}",
        "falls": f"higher for {first}",
        "valley": f"{second} at both ends",
        "arch": f"{second} in the middle",
    }
    return named.get(shape, shape)
