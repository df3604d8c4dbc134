"""The one list of extractors that scenario files and the project file can name."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pydantic import JsonValue

from agentmut._base import UsageError, nearest
from agentmut.judging.facts.answer_judge import Judge
from agentmut.judging.facts.resemblance import Resemblance
from agentmut.language import (
    Dates,
    Decisions,
    Ids,
    JsonFields,
    Numbers,
    Options,
    OwnFunction,
    Statements,
    ToolCalls,
    Tools,
)
from agentmut.nouns import EvaluatorSpec, Extractor

_ALL: tuple[Callable[[JsonValue], Extractor], ...] = (
    Decisions, Statements, Options, Numbers, Dates, Ids, JsonFields, ToolCalls, Tools, Resemblance, Judge, OwnFunction,
)  # fmt: skip
EXTRACTORS: Mapping[str, Callable[[JsonValue], Extractor]] = MappingProxyType(
    {one.name: one for one in _ALL}  # type: ignore[attr-defined]  # classes with a name
)
DEFAULT = ("decisions", "statements", "tool_calls", "json", "numbers", "dates", "ids")
"""The extractors that the default comparison chooses from."""
OF_ANSWERS = frozenset(DEFAULT) - {"tool_calls"}
"""The default extractors that read answers."""
LAST_RESORT = "text"


def build_extractor(spec: EvaluatorSpec) -> Extractor:
    """Return the extractor that a file asks for. Raise `UsageError` for an unknown name or a wrong argument."""
    if spec.name not in EXTRACTORS:
        raise UsageError(f"unknown kind of facts {spec.name!r}. {nearest(spec.name, EXTRACTORS)}")
    try:
        return EXTRACTORS[spec.name](spec.argument)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"facts {spec.name!r}: {error}") from error
