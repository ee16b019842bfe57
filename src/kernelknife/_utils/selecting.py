"""Attributes of other selectors: which features are selected, and the order of all others."""

from typing import Any

import numpy as np

__all__ = ["SelectedFeatures"]


class SelectedFeatures:
    """The attributes of ``RFE`` and Boruta, for an estimator with ``get_support``."""

    @property
    def support_(self) -> np.ndarray:
        """Which features are selected, an array of bool of shape (n_features,)."""
        support: np.ndarray = self.get_support()  # type: ignore[attr-defined]  # of the estimator
        return support

    @property
    def ranking_(self) -> np.ndarray:
        """The rank of every feature, 1 for all that are selected.

        After a cross-validation the others follow from 2 on, in the reverse order in which they
        leave the path. A single fit has no such order, and gives all of them a 2.
        """
        selected = self.support_
        ranks = np.where(selected, 1, 2)
        path = getattr(self, "path_", None)
        if path is not None and not selected.all():
            ranks[~selected] += np.unique(path.ranking[~selected], return_inverse=True)[1]
        return ranks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of scikit-learn's mixin
        tags.input_tags.sparse = True
        return tags
