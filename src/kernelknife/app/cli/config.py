"""Options of a command in a file: read for ``--config``, written by ``--save-config``.

A file has one line for every option that was given, under its name in Python. What stands on the
command line comes before what stands in the file.
"""

import difflib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from kernelknife._utils.files import write_file
from kernelknife.app.cli.console import Failure, writing
from kernelknife.app.cli.parameters import OUTPUT, PANELS, panel_of

__all__ = ["read_config", "write_config"]

NOT_IN_A_FILE = ("config", "save_config", "help")


def read_config(context: Any, path: Path | None) -> Path | None:
    """Make the options in a file the defaults of a command; typer calls this with ``--config``.

    Parameters
    ----------
    context : click.Context
    path : path or None
    """
    if path is None or context.resilient_parsing:
        return path
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Failure(
            f"{path} is not written as TOML ({error}): a line is an option and its value, such as "
            f'target = "y".'
        ) from None
    known = {
        spelled: one
        for one in context.command.params
        if one.name not in NOT_IN_A_FILE
        for spelled in (one.name, *(flag.lstrip("-").replace("-", "_") for flag in one.opts))
    }
    context.default_map = {
        known[name].name: _as_given(path, name, value, known[name])
        for name, value in ((_known(path, key, known), value) for key, value in given.items())
    }
    return path


def _known(path: Path, key: str, known: Mapping[str, Any]) -> str:
    """Return the name of an option in a file, which the command must have."""
    name = key.replace("-", "_")
    if name in known:
        return name
    similar = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {similar[0]}?" if similar else "--help lists all options."
    raise Failure(f"{path} has the option {key}, which the command does not have: {hint}")


def _as_given(path: Path, name: str, value: Any, option: Any) -> Any:
    """Return a value as the command line would give it."""
    several, flag = getattr(option, "multiple", False), getattr(option, "is_flag", False)
    wanted = "true or false" if flag else "a value or a list of them" if several else "one value"
    parts = value if isinstance(value, list) else [value]
    fits = all(isinstance(one, str | int | float) for one in parts)
    if flag != isinstance(value, bool) or not fits or (isinstance(value, list) and not several):
        raise Failure(f"{path}: {name} must be {wanted}, got {value!r}.")
    if flag:
        return value
    texts = [str(one) for one in parts]
    return texts if several else texts[0]


def write_config(path: Path, outputs: Mapping[str, Any], *options: Any) -> None:
    """Write the options that differ from their defaults.

    Parameters
    ----------
    path : path
    outputs : dict
        Options that stand in no dataclass; None and False are left out.
    *options : dataclass instances
    """
    values = {name: value for name, value in outputs.items() if value not in (None, False)}
    for one in options:
        for each in fields(one):
            value = getattr(one, each.name)
            if each.default is MISSING or value != each.default:
                values[each.name] = value
    lines: list[str] = []
    for panel in (*PANELS, OUTPUT):
        mine = [f"{name} = {_toml(values[name])}" for name in values if panel_of(name) == panel]
        lines += ["", f"# {panel}", *mine] if mine else []
    with writing(path):
        write_file(path, "\n".join(["# Options of kernelknife select", *lines]) + "\n")


def _toml(value: Any) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
