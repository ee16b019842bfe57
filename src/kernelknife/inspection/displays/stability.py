"""A picture of stability selection: how the votes grow with the number of votes per half-sample.

It follows the convention of :mod:`kernelknife.inspection.displays`.
"""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernelknife._engine.data import column_names
from kernelknife.inspection.displays.style import (
    ACCENT,
    CHOSEN_DASH,
    GRAY,
    LineDisplay,
    hide_frame,
    line_style,
    shorten,
    spread_labels,
)

__all__ = ["StabilityDisplay"]

MOST_COUNTS = 60  # numbers of votes along the axis
MOST_LABELS = 15  # as many names fit into the margin
LABEL_GAP = 0.062  # height of a line of small text, as a share of the axes


class StabilityDisplay(LineDisplay):
    """Share of half-samples that select a feature, against the number that each may select.

    Parameters
    ----------
    n_votes : ndarray of int of shape (n_points,)
        Features that each half-sample votes for.
    shares : ndarray of shape (n_points, n_features)
        Share of the half-samples that vote for a feature.
    feature_names : array-like of str
        Names for the labels.
    selected : ndarray of bool of shape (n_features,)
        Features that are colored and named.
    chosen_votes : int
        Number of votes that the error bound holds for, which is marked.
    threshold : float
        Share from which on features are selected, which is marked.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        What was drawn on.
    lines_ : list of Line2D
        The lines of the selected features.

    Examples
    --------
    >>> from kernelknife import KnifeStability
    >>> from kernelknife.datasets import make_skin_of_orange
    >>> from kernelknife.inspection.displays.stability import StabilityDisplay
    >>> stability = KnifeStability(n_pairs=3).fit(*make_skin_of_orange(100, 6, random_state=0))
    >>> display = StabilityDisplay.from_estimator(stability)
    >>> len(display.lines_) == len(stability.get_support(indices=True))
    True
    """

    def __init__(self, n_votes, shares, feature_names, *, selected, chosen_votes, threshold):
        self.n_votes = n_votes
        self.shares = shares
        self.feature_names = feature_names
        self.selected = selected
        self.chosen_votes = chosen_votes
        self.threshold = threshold

    @classmethod
    def _of_estimator(cls, estimator):
        check_is_fitted(estimator, "ranks_")
        p = estimator.n_units_
        counts = np.unique(np.round(np.geomspace(1, p, MOST_COUNTS)).astype(int))
        shares = np.array([estimator.vote_shares(int(count)) for count in counts])
        columns = getattr(estimator, "feature_names_in_", None)
        columns = column_names(columns, estimator.n_features_in_)
        names, selected = [], np.zeros(p, dtype=bool)
        for unit in range(p):
            members = np.flatnonzero(estimator.units_ == unit)
            names.append(" + ".join(str(columns[j]) for j in members))
            selected[unit] = estimator.support_[members[0]]
        return cls(
            counts,
            shares,
            names,
            selected=selected,
            chosen_votes=estimator.n_votes_,
            threshold=estimator.threshold_,
        )

    def _draw(self, ax, line_kwargs):
        others = np.flatnonzero(~self.selected)
        ax.plot(self.n_votes, self.shares[:, others], color=GRAY, linewidth=0.7, zorder=1)
        middle = int(np.argmin(np.abs(self.n_votes - self.chosen_votes)))
        chosen = np.flatnonzero(self.selected)
        chosen = chosen[np.argsort(-self.shares[middle, chosen], kind="stable")]
        self.lines_ = []
        for i, j in enumerate(chosen):
            style = {**line_style(i), "linewidth": 1.8, "zorder": 3, **line_kwargs}
            self.lines_ += ax.plot(
                self.n_votes, self.shares[:, j], label=str(self.feature_names[j]), **style
            )
        mark = {"color": ACCENT, "linewidth": 1.0, "linestyle": CHOSEN_DASH, "zorder": 2}
        ax.axhline(self.threshold, **mark)
        ax.axvline(self.chosen_votes, **mark)
        ax.annotate(
            f"{self.chosen_votes} votes per half-sample",
            (self.chosen_votes, 0.0),
            xytext=(4, 3),
            textcoords="offset points",
            fontsize="small",
            color=ACCENT,
        )
        ax.set_xscale("log")
        if len(self.n_votes) > 1:
            ax.set_xlim(self.n_votes[0], self.n_votes[-1])
        ax.set_ylim(0.0, 1.03)
        ax.set_xlabel("features that each half-sample votes for")
        ax.set_ylabel("share of half-samples")
        hide_frame(ax)
        self._name_lines(ax, chosen, middle)

    def _name_lines(self, ax, chosen, middle):
        """Write the names of the selected features beside the axes, ordered by their votes."""
        named = chosen[:MOST_LABELS]
        places = spread_labels(list(self.shares[middle, named] / 1.03), LABEL_GAP)
        for line, j, place in zip(self.lines_, named, places, strict=False):
            ax.annotate(
                shorten(self.feature_names[j]),
                (1.0, place),
                xycoords="axes fraction",
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
                color=line.get_color(),
            )
        if len(chosen) > MOST_LABELS:
            ax.set_title(f"{len(chosen) - MOST_LABELS} more are not named", fontsize="small")
