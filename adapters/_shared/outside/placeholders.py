"""`{input}`, `{model.name}` and the like in commands, addresses, headers and bodies."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from string import Formatter

from pydantic import JsonValue

from agentmut._base import UsageError, nearest
from agentmut.nouns import AgentConfig

PARTS = ("prompt", "model", "tools", "context", "orchestration")
"""Parts of a config that can be named."""
Word = Callable[[str], str]
"""What stands in the place of a placeholder."""


def names_in(text: str, where: str) -> tuple[str, ...]:
    """List the placeholders of a text, in order. Raises `UsageError` for a brace outside a placeholder.

    >>> names_in("--ask {input} --model {model.name} {{}}", "agent.command")
    ('input', 'model.name')
    """
    return tuple(name for _, name in pieces(text, where) if name is not None)


def filled(text: str, word: Word, where: str) -> str:
    """Return the text with `word(name)` in the place of each placeholder, and `{{` and `}}` as braces.

    >>> filled("{{{input}}}", str.upper, "agent.body")
    '{INPUT}'
    """
    return "".join(literal + ("" if name is None else word(name)) for literal, name in pieces(text, where))


def check_names(names: Iterable[str], config: AgentConfig, others: Iterable[str], where: str) -> None:
    """Raise `UsageError` for a name that is neither in `others` nor a part of the config, or for an unset part."""
    values = parts_by_name(config)
    known = {*others, *(name for name, value in values.items() if value is not None)}
    for name in names:
        if name in values and name not in known:
            raise UsageError(
                f"{where}: {{{name}}} stands for nothing: set it in agent.config, or leave it out"
            )
        if name not in known:
            raise UsageError(
                f"{where}: unknown placeholder {{{name}}}. {nearest(name, known)} "
                "A brace itself is written {{ or }}."
            )


def parts_by_name(config: AgentConfig) -> dict[str, JsonValue]:
    """Return every part of a config that a placeholder may name, by dotted path. Unset ones are None.

    >>> parts_by_name(AgentConfig(orchestration={"retries": {"fetch": 2}}))["orchestration.retries.fetch"]
    2
    """
    plain = config.model_dump(mode="json", include=set(PARTS))
    return dict(_named(plain))


def as_word(value: JsonValue) -> str:
    """Return a value as text: a text unchanged, None as an empty text, other values as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def pieces(text: str, where: str) -> Iterator[tuple[str, str | None]]:
    """Yield literal text with the name after it. Raise `UsageError` for a brace outside a placeholder."""
    try:
        for literal, name, form, conversion in Formatter().parse(text):
            if form or conversion:
                raise ValueError(f"{{{name}...}} is no placeholder")
            yield literal, name
    except ValueError as error:
        raise UsageError(
            f"{where}: {error} in {text!r:.80}. A brace itself is written {{{{ or }}}}."
        ) from None


def _named(values: Mapping[str, JsonValue], above: str = "") -> Iterator[tuple[str, JsonValue]]:
    for key, value in values.items():
        name = f"{above}{key}"
        yield name, value
        if isinstance(value, dict):
            yield from _named(value, f"{name}.")
