"""The one list of extractors that scenario files and the project file can name."""

from collections.abc import Callable, Mapping
from itertools import combinations
from types import MappingProxyType
from typing import ClassVar, Literal

from pydantic import JsonValue

from agentmut._base import UsageError, arguments, nearest
from agentmut.judging.facts.answer_judge import Judge
from agentmut.judging.facts.bounded_function import BoundedFunction
from agentmut.language import (
    Dates,
    Decisions,
    Ids,
    JsonFields,
    Numbers,
    Options,
    Statements,
    ToolCalls,
    Tools,
    texts_of,
)
from agentmut.nouns import AgentTrace, EvaluatorSpec, Extractor, Fact, Scenario

QUANTILE = 0.95
"""The quantile of the distances between original runs that is the calibrated threshold."""
_LONGEST = 4_000
"""Characters of an answer that are looked at."""
_MOST_PAIRS = 200


class Resemblance:
    """`text`: answers differ where their distance is above a threshold.

    The distance is 1 - chrF (with beta 1, so that it is symmetric; M. Popovic, WMT 2015, as nltk computes it), or
    with `measure: edit` the edit distance in words divided by the number of words of the longer answer. The threshold
    is the smallest distance that at least 95 % of the pairs of different source runs do not exceed: the k-th
    smallest of m, k = ceil(0.95 m). Without sources and without a threshold of its own (`threshold: 0.4`) it is 0.
    """

    name: ClassVar[str] = "text"

    def __init__(self, argument: JsonValue = None) -> None:
        given = {} if argument is None else arguments.mapping(argument, (), ("measure", "threshold"))
        measure = given.get("measure", "chrf")
        if measure not in ("chrf", "edit"):
            raise ValueError(f"expects measure to be chrf or edit, got {measure!r}")
        self.measure: Literal["chrf", "edit"] = "chrf" if measure == "chrf" else "edit"
        self.threshold: float | None = None
        if "threshold" in given:
            self.threshold = arguments.number(given["threshold"], "threshold to be a number from 0 to 1")
            if self.threshold > 1:
                raise ValueError(f"expects threshold to be a number from 0 to 1, got {self.threshold}")

    def facts(self, scenario: Scenario, trace: AgentTrace) -> frozenset[Fact]:
        """Return no facts: texts are compared as wholes."""
        return frozenset()

    def calibrated(self, scenario: Scenario, sources: tuple[AgentTrace, ...]) -> Extractor:
        """Return the extractor with the threshold that these runs give; itself if it has a threshold."""
        if self.threshold is not None:
            return self
        pairs = [*combinations([_text(trace) for trace in sources], 2)]
        step = -(-len(pairs) // _MOST_PAIRS)
        distances = sorted(distance(left, right, self.measure) for left, right in pairs[::step])
        at = -(-int(QUANTILE * 100) * len(distances) // 100) - 1
        return Resemblance({"measure": self.measure, "threshold": distances[at]})

    def difference(self, scenario: Scenario, source: AgentTrace, follow_up: AgentTrace) -> str:
        """Return how far apart the answers are, if they are too far apart."""
        apart = distance(_text(source), _text(follow_up), self.measure)
        most = self.threshold or 0.0
        return f"text distance {apart:.2f} is above {most:.2f}" if apart > most else ""


def distance(left: str, right: str, measure: Literal["chrf", "edit"] = "chrf") -> float:
    """Return 0 for the same words up to 1 for nothing in common. Case and blanks make no difference."""
    if left == right or not left or not right:
        return 0.0 if left == right else 1.0
    if measure == "chrf":
        from nltk.translate.chrf_score import sentence_chrf  # type: ignore[import-untyped]  # slow to import

        return 1.0 - float(sentence_chrf(left, right, beta=1.0))
    from nltk.metrics.distance import edit_distance  # type: ignore[import-untyped]

    words = left.split(), right.split()
    return int(edit_distance(*words)) / max(map(len, words))


def _text(trace: AgentTrace) -> str:
    return " ".join(" ".join(texts_of(trace)).split()).lower()[:_LONGEST]


_ALL: tuple[Callable[[JsonValue], Extractor], ...] = (
    Decisions, Statements, Options, Numbers, Dates, Ids, JsonFields, ToolCalls, Tools, Resemblance, Judge,
    BoundedFunction,
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
