"""The options of a command, made from the dataclasses of :mod:`kernelknife.app.options`."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer
import typer.core

from kernelknife.app.options import flags_of

__all__ = ["OUTPUT", "PANELS", "PanelCommand", "panel_of", "takes_options"]

NAMES = tuple[str, ...]
# The headings of the help, and the options under each; all others are those of the output.
PANELS = {
    "Data": (
        *("data", "encoding", "missing", "decimal", "thousands", "sheet", "transpose", "drop"),
        *("ids", "levels", "log", "impute", "drop_missing", "dates", "color", "on"),
    ),
    "Target and rows": (
        *("target", "event", "exposure", "task", "group", "order", "forward", "blocks"),
        *("always_keep", "adjust_for", "hold_out"),
    ),
    "Model": (
        *("kernel", "loss", "quantile", "class_weight", "alpha", "sparsity", "n_features"),
        *("feature_groups", "n_centers", "n_components"),
    ),
    "Search": (
        *("rule", "folds", "nested", "stability", "max_false", "fdr", "n_permutations", "level"),
        *("quick", "sparsities", "random_state", "n_jobs", "cluster", "checkpoint"),
    ),
}
OUTPUT = "Output"
_choice: Any = StrEnum  # mypy allows no name that is not written out


def panel_of(name: str) -> str:
    """Return the heading under which the help lists an option."""
    return next((panel for panel, names in PANELS.items() if name in names), OUTPUT)


class PanelCommand(typer.core.TyperCommand):
    """A command whose help lists its options under headings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, and every heading with its options."""
        shown: dict[str, list[Any]] = {name: [] for name in ("Arguments", *PANELS, OUTPUT)}
        for one in self.get_params(ctx):
            panel = "Arguments" if one.param_type_name == "argument" else panel_of(one.name)
            record = one.get_help_record(ctx)
            shown[panel] += [] if record is None else [record]
        for panel, records in shown.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records)


def takes_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Replace every parameter that is a dataclass of options by one parameter per option.

    typer reads the signature, and the command gets the dataclasses. What is absent from the command
    line has the default of the dataclass.
    """
    own = inspect.signature(command).parameters
    groups: dict[str, Any] = {
        name: p.annotation for name, p in own.items() if is_dataclass(p.annotation)
    }

    @functools.wraps(command)
    def run(**values: Any) -> Any:
        for name, options in groups.items():
            given = {one: values.pop(one.name) for one in fields(options)}
            values[name] = options(
                **{
                    one.name: _plain(one, value)
                    for one, value in given.items()
                    if value is not None
                }
            )
        return command(**values)

    flat: list[inspect.Parameter] = []
    for name, parameter in own.items():
        if name in groups:
            # Options that must be given stand first in the help.
            options = sorted(fields(groups[name]), key=lambda one: one.default is not MISSING)
            flat += map(_parameter, options)
        else:
            flat.append(parameter.replace(kind=parameter.KEYWORD_ONLY))
    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return run


def _parameter(one: Field) -> inspect.Parameter:
    """Return the parameter of one option, as typer understands it."""
    kind: Any = one.metadata.get("kind", str if one.type == NAMES else one.type)
    if one.metadata.get("choices"):
        kind = _choice(one.name, {choice: choice for choice in one.metadata["choices"]})
    default: Any = inspect.Parameter.empty
    if one.default is not MISSING:
        # What Python takes in more forms, such as the word "auto", is absent from the command.
        absent = one.default in (None, ()) or "kind" in one.metadata
        default = None if absent else kind(one.default)
    if one.type == NAMES:
        kind = list[kind]
    several = one.type == NAMES and not one.metadata.get("choices")
    about = typer.Option(
        *flags_of(one),
        help=one.metadata["help"],
        min=one.metadata.get("low"),
        metavar="TEXT" if several or kind == list[str] else None,
    )
    return inspect.Parameter(
        one.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind | None if default is None else kind, about],
    )


def _plain(one: Field, value: Any) -> Any:
    """Return a value of the command line as the dataclass has it."""
    if isinstance(value, list):
        return tuple(map(str, value))
    if isinstance(value, StrEnum):
        return str(value)
    return one.metadata["parse"](value) if "parse" in one.metadata else value
