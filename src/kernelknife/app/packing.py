"""Objects as plain data, and back: what a model file holds instead of code.

A value becomes a tree of JSON and a list of arrays. Numbers, texts, None and lists stand for
themselves; whatever else there is stands in a JSON object of one key that says what it is: a tuple,
a dict, an array by its number, an array of texts, or an object of a known type with its attributes.
Such an object is rebuilt by setting its attributes: no constructor and no other code of it runs.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

__all__ = ["PackingError", "pack", "unpack"]

ARRAY_KINDS = "biufU"  # of the entries of an array: booleans, numbers, texts
PRIVATE = ("_model",)  # what estimators hold beside their parameters and attributes that end in _


class PackingError(ValueError):
    """A value that no model file may hold."""


def pack(value: Any, types: Mapping[str, type], arrays: list[np.ndarray]) -> Any:
    """Return a value as a tree of JSON; its arrays are added to ``arrays``, each of them once.

    Parameters
    ----------
    value : object
    types : dict of type
        The types that objects may have, by the names that a file calls them by.
    arrays : list of ndarray
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [pack(item, types, arrays) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [pack(item, types, arrays) for item in value]}
    if isinstance(value, dict):
        pairs = [[pack(part, types, arrays) for part in pair] for pair in value.items()]
        return {"dict": pairs}
    if isinstance(value, np.ndarray):
        if value.dtype.kind in ARRAY_KINDS:
            known = [i for i, array in enumerate(arrays) if array is value]
            if not known:
                arrays.append(value)
            return {"array": known[0] if known else len(arrays) - 1}
        if value.dtype == object and value.ndim == 1:
            return {"objects": pack(value.tolist(), types, arrays)}
    for name, kind in types.items():
        if type(value) is kind:
            state = {key: vars(value)[key] for key in _attributes(value)}
            return {name: {key: pack(item, types, arrays) for key, item in state.items()}}
    raise PackingError(f"a file cannot hold {type(value).__name__} objects")


def unpack(tree: Any, types: Mapping[str, type], arrays: list[np.ndarray]) -> Any:
    """Return the value that :func:`pack` made a tree and arrays of; raise for any other tree.

    Parameters
    ----------
    tree : object
    types : dict of type
    arrays : list of ndarray
    """
    if tree is None or isinstance(tree, bool | int | float | str):
        return tree
    if isinstance(tree, list):
        return [unpack(item, types, arrays) for item in tree]
    if not isinstance(tree, dict) or len(tree) != 1:
        raise PackingError("a part is no known kind of value")
    ((name, content),) = tree.items()
    if name == "array":
        if type(content) is not int or not 0 <= content < len(arrays):
            raise PackingError("an array is missing")
        return arrays[content]
    if name in ("tuple", "dict", "objects"):
        items = [unpack(item, types, arrays) for item in _checked(content, list)]
        if name == "tuple":
            return tuple(items)
        if name == "dict":
            return dict(_checked(item, list) for item in items)
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array
    if name not in types:
        raise PackingError(f"it holds objects of a type that is not ours ({name[:50]!r})")
    kind = types[name]
    state = {key: unpack(item, types, arrays) for key, item in _checked(content, dict).items()}
    value: Any = object.__new__(kind)
    vars(value).update(state)
    if set(_attributes(value)) != set(state) or _required(value) - set(state):
        raise PackingError(f"the attributes of {name} are others than those of its type")
    return value


def _checked(content: Any, kind: type) -> Any:
    """Return a part of a tree; raise unless it is of that type."""
    if not isinstance(content, kind):
        raise PackingError("a part is no known kind of value")
    return content


def _required(value: Any) -> set[str]:
    """Return the attributes that every object of a type has: fields, or parameters."""
    if is_dataclass(value):
        return {field.name for field in fields(value)}
    return set(value.get_params(deep=False)) if isinstance(value, BaseEstimator) else set()


def _attributes(value: Any) -> list[str]:
    """Return the names of an object's attributes that a file keeps.

    What a dataclass has cached beside its fields, and what scikit-learn keeps for a running fit,
    stay behind.
    """
    required = _required(value)
    if is_dataclass(value):
        return [name for name in vars(value) if name in required]
    return [
        name
        for name in vars(value)
        if name in required or name in PRIVATE or (name[0] != "_" and name[-1] == "_")
    ]
