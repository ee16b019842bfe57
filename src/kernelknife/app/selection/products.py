"""Whether products of columns were searched for pure interactions, among all columns and rows.

A column of a pure interaction has no effect of its own. It is found by its products with others,
and where there are too many of these to be searched, a reader has to know.
"""

from collections.abc import Iterable

from kernelknife._engine.search.starts import rows_for_products
from kernelknife.kernels import Kernel

__all__ = ["find_searched_products", "products_as_json", "products_in_words"]

ORDERS = {2: "two", 3: "three"}
KEYS = {2: "pairs", 3: "triples"}


def find_searched_products(
    of_path: dict[int, int], kernels: Iterable[Kernel], n_rows: int, n_columns: int, n_outputs: int
) -> dict[int, int]:
    """Return in how many rows products of columns were searched, by their number.

    Parameters
    ----------
    of_path : dict
        ``searched_products`` of the selected path. It is empty where the selected kernel needs no
        such search; then it is that of the other kernels that were compared.
    kernels : iterable of Kernel
        Those that were compared.
    n_rows, n_columns, n_outputs : int
        Of the search.
    """
    if of_path or all(kernel.convex for kernel in kernels):
        return of_path
    return rows_for_products(n_rows, n_columns, n_outputs)


def products_in_words(searched: dict[int, int], n_rows: int) -> str:
    """Return which products were not searched on all rows as a sentence, nothing where all were.

    Parameters
    ----------
    searched : dict
        Rows by the number of columns in a product.
    n_rows : int
        All rows of the search.
    """
    if all(rows >= n_rows for rows in searched.values()):
        return ""
    if not any(searched.values()):
        return (
            "Products of columns were not searched, because there are too many columns: columns "
            "that act only together may have been missed."
        )
    pairs, triples = (_in_rows(searched[order], n_rows) for order in ORDERS)
    if pairs == triples:
        return f"Products of two and of three columns were searched among all columns {pairs}."
    rest = f"those of three {triples}." if triples else "those of three were not: too many columns."
    return f"Products of two columns were searched among all columns {pairs}, {rest}"


def _in_rows(rows: int, n_rows: int) -> str:
    """Return on how many rows something was searched, nothing where it was not."""
    if not rows:
        return ""
    return "on all rows" if rows >= n_rows else f"on {rows} of {n_rows} rows"


def products_as_json(searched: dict[int, int]) -> dict[str, int] | None:
    """Return the rows of each kind of product by its name, None where none was to be searched.

    Parameters
    ----------
    searched : dict
        Rows by the number of columns in a product.
    """
    return {KEYS[order]: rows for order, rows in searched.items()} or None
