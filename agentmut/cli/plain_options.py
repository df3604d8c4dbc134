"""The help of options in words: typer writes `<list[str]>` and `[x>=1]`."""

from functools import partial
from typing import Any

WORDS = {
    "<str>": "TEXT",
    "<list[str]>": "TEXT",
    "<int>": "N",
    "<int range>": "N",
    "<float>": "NUMBER",
    "<float range>": "NUMBER",
    "<path>": "PATH",
    "<file>": "PATH",
    "<directory>": "PATH",
    "<list[path]>": "PATH",
    "<list[float]>": "NUMBER",
    "<list[int]>": "N",
}

NUMBERS = {"N": "a whole number", "NUMBER": "a number"}
"""What an option takes, by the word in its help."""


def plain_options(command: Any) -> Any:
    """Return a command of typer, and the commands below it, whose help names types and limits in words."""
    for below in getattr(command, "commands", {}).values():
        plain_options(below)
    for parameter in command.params:
        _write_plainly(parameter)
    return command


def _write_plainly(parameter: Any) -> None:
    """Give an option a word for its type, unless it has one, and write its limits as words.

    Some of what is set here is private to typer: tests/cli/test_plain_help.py reads the help of all verbs.
    """
    limits = limits_in_words(getattr(parameter, "min", None), getattr(parameter, "max", None))
    repeated = "repeatable" if getattr(parameter, "multiple", False) else ""
    parameter._get_number_range_help_str = partial(_or_none, "; ".join(filter(None, (limits, repeated))))
    if parameter.param_type_name == "argument":
        parameter.display_type_rich = partial(_or_none, "")
    elif parameter.metavar is None and not parameter.is_flag:
        label = str(parameter.display_type(None))
        parameter.metavar = WORDS.get(label, label.strip("<>"))


def say_plainly(error: Any) -> None:
    """Say in words what an option takes, where typer speaks of an input, its parsing, and a value error."""
    parameter = getattr(error, "param", None)
    kind = NUMBERS.get(getattr(parameter, "metavar", None) or "")
    if kind and error.message.startswith("Input should"):
        limits = limits_in_words(getattr(parameter, "min", None), getattr(parameter, "max", None))
        error.message = f"Give {kind}{f', {limits}' if limits else ''}."
    error.message = error.message.removeprefix("Value error, ")


def _or_none(words: str, ctx: Any = None) -> str | None:
    """Return the words as typer asks for them, None for nothing; the context of the help changes nothing."""
    _ = ctx
    return words or None


def limits_in_words(least: float | None, most: float | None) -> str:
    """Return the limits of a number in words; empty for none.

    >>> limits_in_words(1, None), limits_in_words(0, 0.5), limits_in_words(None, None)
    ('at least 1', '0 to 0.5', '')
    """
    if least is not None and most is not None:
        return f"{least:g} to {most:g}"
    if least is not None:
        return f"at least {least:g}"
    return f"at most {most:g}" if most is not None else ""
