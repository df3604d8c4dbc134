"""Fingerprints: the actions of a run as numbers, without durations and without the prompt's length.

No feature depends on the load of the machine, on prices or on input tokens: these differ between a mutant and the
original although nothing has changed in what the agent does.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from pydantic import JsonValue

from agentmut._base import shipped
from agentmut.judging import structured, written_json
from agentmut.language import NO, YES, decisions, stated_figures
from agentmut.nouns import Action, AgentTrace, Execution

if TYPE_CHECKING:
    from agentmut.stats import Array

LONGEST_VALUE = 40
"""Characters of an argument's or field's value that is a feature of its own."""
LARGEST = 1e15
"""The largest number that is a feature: the place of greater ones, as of infinity, is no matter of degree."""
FEATURES = 32
"""Columns of features at most, besides the pairs of tools: those that vary in the most runs."""
PAIRS = 12


_WORD = re.compile(r"[^\W_]+")


class Feature(NamedTuple):
    """A column: the kind of count or measure, and its subject."""

    kind: str
    of: tuple[str, ...] = ()


_FAILED, _STEPS, _MODEL_CALLS, _ERRORS, _OUTPUT_TOKENS, _TOOL_CALLS, _TOOLS = map(
    Feature, ("failed", "steps", "model calls", "errors", "output tokens", "tool calls", "tools")
)


class Fingerprint(NamedTuple):
    """The fingerprint of one run. A missing feature is 0."""

    features: Mapping[Feature, float]
    tools: tuple[str, ...]
    words: frozenset[str]
    """The words of the answers, in lower case."""
    answers: tuple[str, ...] = ()
    """As texts, one a turn."""


class Columns(NamedTuple):
    """Two samples of runs as numbers, a row for each run."""

    baseline: "Array"
    candidate: "Array"
    features: tuple[Feature, ...]
    """What the columns are."""


def fingerprint(execution: Execution) -> Fingerprint:
    """Return the fingerprint of a run."""
    trace = execution.trace
    texts = all(isinstance(output, str) for output in trace.outputs)
    answer = (_answer_of_texts if texts else _answer_of)(trace.outputs)
    failed = (_FAILED, float(execution.ending.outcome is not None))
    features = dict((failed, *_steps(trace), *answer.features, *_calls(trace)))
    return Fingerprint(features, trace.tools_called, answer.words, answer.texts)


class _Answer(NamedTuple):
    """What is read off the answers of a run alone."""

    features: tuple[tuple[Feature, float], ...]
    words: frozenset[str]
    texts: tuple[str, ...]


def _answer_of(outputs: tuple[JsonValue, ...]) -> _Answer:
    texts = tuple(o if isinstance(o, str) else written_json(o) for o in outputs)
    answered = " ".join(texts)
    features = tuple(_answer(AgentTrace(outputs=outputs), answered))
    return _Answer(features, frozenset(_WORD.findall(answered.lower())), texts)


_answer_of_texts = lru_cache(maxsize=256)(_answer_of)  # runs that answer in the same words are read once


def _steps(trace: AgentTrace) -> Iterator[tuple[Feature, float]]:
    yield _STEPS, len(trace.steps)
    yield _MODEL_CALLS, [step.action for step in trace.steps].count(Action.REASON)
    yield _ERRORS, sum([step.error is not None for step in trace.steps])
    yield _OUTPUT_TOKENS, sum([step.usage.output_tokens for step in trace.steps])
    for name, times in Counter(step.node for step in trace.steps if step.node).items():
        yield Feature("node", (name,)), times


def _answer(trace: AgentTrace, answered: str) -> Iterator[tuple[Feature, float]]:
    yield Feature("turns"), len(trace.outputs)
    yield Feature("words"), len(answered.split())
    yield Feature("lines"), len(answered.splitlines())
    yield Feature("questions"), answered.count("?")
    figures = stated_figures(answered)
    yield Feature("figures"), len(figures)
    for written in figures.values():
        yield Feature("states", (written,)), 1
    decided = {each for output in trace.outputs if isinstance(output, str) for each in decisions(output)}
    yield Feature("grants"), YES in decided
    yield Feature("refuses"), NO in decided
    try:
        output = structured(trace)
    except ValueError:
        return
    yield Feature("json"), output is not None
    for name, value in output.items() if isinstance(output, dict) else ():
        yield Feature("field", (name,)), 1
        yield from _value("field value", (name,), value)


def _calls(trace: AgentTrace) -> Iterator[tuple[Feature, float]]:
    tools, calls = trace.tools_called, trace.tool_calls
    yield _TOOL_CALLS, len(tools)
    yield _TOOLS, len(set(tools))
    if not calls:
        return
    if tools:
        yield Feature("first tool", (tools[0],)), 1
        yield Feature("last tool", (tools[-1],)), 1
    for tool, times in Counter(tools).items():
        yield Feature("calls", (tool,)), times
    filled = Counter[tuple[str, str]]()
    for step in calls:
        for name, value in (step.arguments or {}).items():
            filled[step.tool or "", name] += value not in (None, "", [], {})
            yield from _value("argument value", (step.tool or "", name), value)
    for (tool, name), times in filled.items():
        yield Feature("argument", (tool, name)), times


def _value(kind: str, of: tuple[str, ...], value: JsonValue) -> Iterator[tuple[Feature, float]]:
    """Yield the feature of a value: a number itself, or the presence of a short text."""
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST:
        yield Feature(kind, of), value
    written = written_json(value)
    if len(written) <= LONGEST_VALUE:
        yield Feature(kind, (*of, written)), 1


class Reference:
    """The original's runs on a scenario, made ready once to be compared with many mutants."""

    def __init__(self, runs: Sequence[Fingerprint]) -> None:
        self.runs = tuple(runs)
        self._features = _Table([run.features for run in runs])
        self._words = _Table([dict.fromkeys(run.words, 1.0) for run in runs])

    def columns(self, candidate: Sequence[Fingerprint]) -> Columns:
        """Return both samples over the same columns, for `compare_traces`.

        Which columns there are is decided on both samples as one, so that a permutation test on them stays valid:
        at most `FEATURES` that vary, those that differ from their median in the most runs, then two about words and
        the pairs of neighbouring tools.
        """
        import numpy as np

        from agentmut.stats import bigram_counts

        names, values = self._features.joined([run.features for run in candidate])
        deviating = (values != np.median(values, axis=0)).sum(axis=0)
        kept = [i for i in np.argsort(-deviating, kind="stable")[:FEATURES] if deviating[i]]
        pairs = bigram_counts([r.tools for r in self.runs], [r.tools for r in candidate], PAIRS)
        both = np.vstack([pairs.baseline, pairs.candidate])
        table = np.column_stack([values[:, kept], self._usual_words(candidate), both])
        named = (*(names[i] for i in kept), Feature("usual words"), Feature("rare words"))
        followed = (Feature("pair", pair) for pair in pairs.pairs)
        return Columns(table[: len(self.runs)], table[len(self.runs) :], (*named, *followed))

    def _usual_words(self, candidate: Sequence[Fingerprint]) -> "Array":
        """Return the words that nearly all runs have, and the words that a few runs (at least two) have.

        Few: about as many as there are candidates, so that what all of these say, or leave out, counts here.
        """
        import numpy as np

        _, has = self._words.joined([dict.fromkeys(run.words, 1.0) for run in candidate])
        counted, few = has.sum(axis=0), 1.5 * len(candidate)
        usual, rare = counted >= len(has) - few, (counted > 1) & (counted <= few)
        return np.asarray(has @ np.column_stack([usual, rare]).astype(float))


Name = TypeVar("Name", Feature, str)


class _Table(Generic[Name]):
    """Rows of named numbers, most of them 0."""

    def __init__(self, rows: Sequence[Mapping[Name, float]]) -> None:
        self._names: list[Name] = sorted(set[Name]().union(*rows))
        self._values = _filled(rows, {name: i for i, name in enumerate(self._names)})

    def joined(self, rows: Sequence[Mapping[Name, float]]) -> tuple[list[Name], "Array"]:
        """Return all rows with all names in alphabetical order, which hides the sample that a name comes from."""
        import numpy as np

        names = sorted(set(self._names).union(*rows))
        place = {name: i for i, name in enumerate(names)}
        values = np.zeros((len(self._values) + len(rows), len(names)))
        values[: len(self._values), [place[name] for name in self._names]] = self._values
        values[len(self._values) :] = _filled(rows, place)
        return names, values


def _filled(rows: Sequence[Mapping[Name, float]], place: Mapping[Name, int]) -> "Array":
    import numpy as np

    values = np.zeros((len(rows), len(place)))
    for i, row in enumerate(rows):
        for name, value in row.items():
            values[i, place[name]] = value
    return values


_SHIPPED = shipped("agentmut.insight", "features_in_words")
_MORE_OR_LESS: Mapping[str, Sequence[str]] = _SHIPPED["more_or_less"]
_OFTEN: Mapping[str, str] = _SHIPPED["often"]


def in_words(feature: Feature, *, up: bool, spread: bool = False) -> str:
    """Return the meaning of a feature that rises, falls, or spreads more or less.

    >>> in_words(Feature("calls", ("lookup_order",)), up=False)
    'lookup_order is called less often'
    >>> in_words(Feature("words"), up=True, spread=True)
    'from run to run, this varies more: answers are longer or shorter'
    """
    if spread:
        what = in_words(feature, up=True)
        plain = _VARYING.get(feature.kind, what.removesuffix(" more often"))
        return f"from run to run, this varies {'more' if up else 'less'}: {plain}"
    if feature.kind in _MORE_OR_LESS:
        return _MORE_OR_LESS[feature.kind][not up]
    if feature.kind == "pair":
        return f"{_pair(feature.of)} {'more' if up else 'less'} often"
    if feature.kind in _OFTEN:
        return f"{_OFTEN[feature.kind].format(*feature.of)} {'more' if up else 'less'} often"
    return _of_value(feature, up=up)


_VARYING: Mapping[str, str] = _SHIPPED["varying"]


def _pair(pair: tuple[str, ...]) -> str:
    first, second = pair
    if (first, second) == ("", ""):
        return "no tool is called"
    if not first:
        return f"{second} is the first tool called"
    if not second:
        return f"{first} is the last tool called"
    return f"{second} is called right after {first}"


def _of_value(feature: Feature, *, up: bool) -> str:
    of = feature.of
    often, size = ("more", "larger") if up else ("less", "smaller")
    if feature.kind == "field value":
        return f"the field {of[0]} is " + (f"{of[1]} {often} often" if len(of) > 1 else size)
    if len(of) > 2:
        return f"{of[0]} is called with {of[1]}={of[2]} {often} often"
    return f"{of[0]} is called with a {size} {of[1]}"
