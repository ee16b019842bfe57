"""Texts for the user that name options: spelled for Python here, and for the command in ``cli``.

A library that is called from Python cannot advise ``--drop city``, and a command cannot advise
``drop=["city"]``. So an error or a note keeps what is wrong apart from its hints, which hold the
name of an argument and a value for it. As a text it is spelled for Python; the command spells it
anew, with the flags of :mod:`kernelknife.app.options`.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

__all__ = [
    "Hint",
    "InputError",
    "Message",
    "as_code",
    "in_python",
    "offering",
    "plain_number",
    "spelled",
]


@dataclass(frozen=True)
class Hint:
    """What would help: a clause, and the options that it asks for.

    Attributes
    ----------
    text : str
        A clause that begins with a verb or with "if". The options stand where it has ``{}``.
    options : dict
        Values by the names of arguments.
    function : str
        The function to call, where it is another one than that which complains.
    """

    text: str
    options: Mapping[str, Any] = field(default_factory=dict)
    function: str = ""


class Message(str):
    """A text with hints; as a ``str`` the hints are spelled for Python.

    The hints of a whole sentence follow it as a sentence of their own, those of a note, which ends
    without a full stop, stand in parentheses.

    Parameters
    ----------
    sentence : str
        What is wrong, or what was guessed.
    *hints : Hint
        What would help, joined by "or".
    """

    sentence: str
    hints: tuple[Hint, ...]

    def __new__(cls, sentence: str, *hints: Hint) -> Self:
        message = super().__new__(cls, _joined(sentence, hints, in_python))
        message.sentence, message.hints = str(sentence), hints
        return message

    def spelled(self, spell: Callable[[Hint], str]) -> str:
        """Return the text with the options of every hint as ``spell`` writes them."""
        return _joined(self.sentence, self.hints, spell)

    def offering(self, names: Container[str]) -> "Message":
        """Return the message without hints at options that the caller's function lacks."""
        kept = (
            hint
            for hint in self.hints
            if hint.function or all(name in names for name in hint.options)
        )
        return Message(self.sentence, *kept)


class InputError(ValueError):
    """Input that cannot be used; the message says why and what to do.

    Parameters
    ----------
    sentence : str
        What is wrong.
    *hints : Hint
        Which options would help.
    """

    def __init__(self, sentence: str, *hints: Hint) -> None:
        message = Message(sentence, *hints)
        super().__init__(message)
        self.messages: tuple[Message, ...] = (message,)

    @classmethod
    def of_all(cls, problems: Sequence["InputError"]) -> Self:
        """Return one error that names several problems."""
        return cls._of([message for problem in problems for message in problem.messages])

    @classmethod
    def _of(cls, messages: Sequence[Message]) -> Self:
        error = cls(" ".join(messages))
        error.messages = tuple(messages)
        return error

    def offering(self, names: Container[str]) -> Self:
        """Return the error without hints at options that the caller's function lacks."""
        return self._of([message.offering(names) for message in self.messages])


def offering(text: str, names: Container[str]) -> str:
    """Return a note without hints at options that the caller's function lacks."""
    return text.offering(names) if isinstance(text, Message) else text


def spelled(text: object, spell: Callable[[Hint], str]) -> str:
    """Return a text, a message or an error with its hints as ``spell`` writes them."""
    if isinstance(text, InputError):
        return " ".join(message.spelled(spell) for message in text.messages)
    return text.spelled(spell) if isinstance(text, Message) else str(text)


def in_python(hint: Hint) -> str:
    """Return the options of a hint as arguments, such as ``impute="median"``."""
    arguments = ", ".join(f"{name}={as_code(value)}" for name, value in hint.options.items())
    if not hint.function:
        return arguments
    return f"{hint.function}(..., {arguments})" if arguments else hint.function


def as_code(value: Any) -> str:
    """Return a value as a line of Python would hold it."""
    if isinstance(value, str):
        return repr(value) if '"' in value or "\\" in repr(value) else f'"{value}"'
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(as_code, value))}]"
    return plain_number(value) if type(value) is float else repr(value)


def plain_number(value: float) -> str:
    """Return a number in the fewest characters that stand for it exactly."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def _joined(sentence: str, hints: Sequence[Hint], spell: Callable[[Hint], str]) -> str:
    if not hints:
        return str(sentence)
    *first, last = (hint.text.replace("{}", spell(hint)) for hint in hints)
    advice = f"{', '.join(first)}, or {last}" if first else last
    if sentence.endswith((".", "?")):
        return f"{sentence} {advice[0].upper()}{advice[1:]}."
    return f"{sentence} ({advice})"
