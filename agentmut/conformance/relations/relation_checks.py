"""What is wrong with a relation, found by using it."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from pydantic import JsonValue

from agentmut._base import MutationError, one_line
from agentmut.conformance.operators.candidate_faults import numpy_state
from agentmut.conformance.relations.relation_samples import SEED, TRACES, some, sources
from agentmut.judging import comparison_for
from agentmut.nouns import SAME_AGAIN, AgentTrace, Check, Expectation, FollowUp, Pair, Source, apply_edits
from agentmut.seams import HasExampleArgument, Relation, RelationExample

_LONGEST_PHRASE = 200
_BAD_ARGUMENTS: tuple[JsonValue, ...] = ({"no such key": 1}, [], "", -1.5, True, ["a", None])
T = TypeVar("T")


class _RaisedError(Exception):
    """What a relation raised, as a phrase."""


def conduct_faults(kind: type[Any], arguments: Sequence[JsonValue]) -> Iterator[str]:
    """Yield what is wrong with a class whose shape is right, one phrase a fault."""
    yield from _refusal_faults(kind)
    example_argument = kind.example_argument if issubclass(kind, HasExampleArgument) else None
    built: dict[str, Relation] = {}
    for argument in (None, example_argument, *arguments):
        found = _built(kind, argument)
        if not isinstance(found, str):
            built[repr(argument)] = found
        elif argument is not None:
            yield f"with the argument {argument!r} {found}"
    shown = built.get(repr(example_argument))
    if shown is None:
        yield "its examples need an argument: declare HasExampleArgument, or accept None"
        return
    yield from _example_faults(shown)
    for argument, relation in built.items():
        label = "" if argument == "None" else f"with the argument {argument}: "
        yield from (f"{label}{fault}" for fault in _source_faults(relation))


def _refusal_faults(kind: type[Any]) -> Iterator[str]:
    for argument in (None, *_BAD_ARGUMENTS):
        found = _built(kind, argument)
        if isinstance(found, str) and not found.startswith("it refused"):
            yield f"{kind.__name__}({argument!r}): {found}; raise ValueError with what is expected"


def _built(kind: type[Any], argument: JsonValue) -> Relation | str:
    try:
        relation: Relation = kind(argument)
    except ValueError as error:
        return f"it refused to be built: {error}"
    except Exception as error:
        return f"it raised {one_line(error)}"
    return relation


def _example_faults(relation: Relation) -> Iterator[str]:
    try:
        examples = [RelationExample(*example) for example in relation.examples()]
    except Exception as error:
        yield f"examples() must give agentmut.seams.protocols.RelationExample, but raised {one_line(error)}"
        return
    for holds in (True, False):
        if not any(example.holds is holds for example in examples):
            yield f"it has no example in which it {'holds' if holds else 'does not hold'}"
    for number, example in enumerate(examples, start=1):
        where = f"example {number}"
        try:
            yield from (f"{where}: {fault}" for fault in _example_fault(relation, example))
        except _RaisedError as error:
            yield f"{where}: {error}"
        else:
            yield from _faults_at(where, _run_faults(relation, example.source, tuple(TRACES)))


def _example_fault(relation: Relation, example: RelationExample) -> Iterator[str]:
    source = example.source
    if lack := _call("lack()", relation.lack, source.scenario, source.config):
        yield f"it lacks something: {lack}"
        return
    follow_up = _call("follow_up()", relation.follow_up, source)
    if not isinstance(follow_up, FollowUp):
        yield f"follow_up() gives {follow_up!r}, so that there is nothing to judge"
    elif len(follow_up.runs) != len(example.traces):
        yield f"follow_up() asks for {len(follow_up.runs)} runs, but it has {len(example.traces)} traces"
    else:
        judged = _call("holds()", relation.holds, _pair(source, follow_up, example.traces))
        if not isinstance(judged, Check):
            yield f"holds() gives {judged!r}, but it should say whether the relation holds"
        elif judged.passed is not example.holds:
            verdict = "holds" if judged.passed else "does not hold"
            yield f"it {verdict} ({judged.reason}), which is not what the example says"


def _source_faults(relation: Relation) -> Iterator[str]:
    for number, (where, source) in enumerate(sources()):
        yield from _faults_at(where, _run_faults(relation, source, some(list(TRACES), number)))


def _faults_at(where: str, faults: Iterator[str]) -> Iterator[str]:
    """Yield the faults of one source with its name; an exception counts as a fault."""
    try:
        yield from (f"{where}: {fault}" for fault in faults)
    except _RaisedError as error:
        yield f"{where}: {error}"


def _run_faults(relation: Relation, source: Source, following: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with what a relation makes of one source run, with these traces as follow-up runs."""
    before = _copies(source)
    lack = _call("lack()", relation.lack, source.scenario, source.config)
    yield from _phrase_faults("lack()", lack, may_be_empty=True)
    if lack:
        return
    states = random.getstate(), numpy_state()
    first = _call("follow_up()", relation.follow_up, _fresh(source))
    if (random.getstate(), numpy_state()) != states:
        yield "follow_up() draws from a global random generator; take source.rng"
    if first != _call("follow_up()", relation.follow_up, _fresh(source)):
        yield "follow_up() gave another follow-up the second time, with the same seed"
    if _copies(source) != before:
        yield "follow_up() changed the source that it was given"
    if first is None:
        return
    if not isinstance(first, FollowUp):
        yield f"follow_up() must give a FollowUp or None, got {first!r:.80}"
        return
    yield from _follow_up_faults(relation, source, first)
    yield from _judgement_faults(relation, source, first, following)


def _follow_up_faults(relation: Relation, source: Source, follow_up: FollowUp) -> Iterator[str]:
    yield from _phrase_faults("the description of its follow-up", follow_up.description)
    if not follow_up.runs and relation.expectation is Expectation.INVARIANT:
        yield "an invariant compares runs, but its follow-up has none; make it a predicate"
    for run in follow_up.runs:
        if run.turns is not None and not run.turns:
            yield "a follow-up run has no turns; leave them out where they stay the same"
        try:
            apply_edits(source.config, run.edits)
        except MutationError as error:
            yield f"its edits do not apply: {' '.join(str(error).split())}"


def _judgement_faults(
    relation: Relation, source: Source, follow_up: FollowUp, following: Sequence[str]
) -> Iterator[str]:
    for name in following:
        traces = (TRACES[name],) * len(follow_up.runs)
        try:
            yield from _judged_faults(relation, _pair(source, follow_up, traces))
        except _RaisedError as error:
            yield f"{error}, with the follow-up run: {name}"
        if not follow_up.runs:
            break
    if relation.expectation is not Expectation.INVARIANT:
        return
    same = _call("holds()", relation.holds, _pair(source, SAME_AGAIN, (source.trace,)))
    if isinstance(same, Check) and not same.passed:
        yield f"it does not hold of a run and the same run again: {same.reason}"


def _judged_faults(relation: Relation, pair: Pair) -> Iterator[str]:
    before = pair.source.model_copy(deep=True), tuple(one.model_copy(deep=True) for one in pair.traces)
    judged = _call("holds()", relation.holds, pair)
    if not isinstance(judged, Check | None):
        yield f"holds() must give a Check or None, got {judged!r:.80}"
    elif judged is not None and not judged.reason.strip():
        yield "its check has no reason"
    if judged != _call("holds()", relation.holds, pair):
        yield "holds() judged the same pair otherwise the second time"
    if before != (pair.source, pair.traces):
        yield "holds() changed the traces that it was given"


def _phrase_faults(attribute: str, phrase: object, may_be_empty: bool = False) -> Iterator[str]:
    if not isinstance(phrase, str):
        yield f"{attribute} must be a phrase, got {phrase!r:.80}"
    elif not phrase.strip():
        if not may_be_empty or phrase:
            yield f"{attribute} is empty"
    elif "\n" in phrase or len(phrase) > _LONGEST_PHRASE:
        yield f"{attribute} must be a phrase of one line and at most {_LONGEST_PHRASE} characters, got {phrase!r:.80}"
    elif may_be_empty and phrase.endswith("."):
        yield f"{attribute} must be a phrase that a sentence can end with, without a full stop: {phrase!r:.80}"


def _pair(source: Source, follow_up: FollowUp, traces: tuple[AgentTrace, ...]) -> Pair:
    comparison = comparison_for(source.scenario)
    return Pair(source.scenario, source.config, source.trace, follow_up, traces, comparison)


def _fresh(source: Source) -> Source:
    """Return the source with a fresh random generator."""
    return source._replace(rng=random.Random(SEED))


def _copies(source: Source) -> tuple[Any, ...]:
    """Return copies of a source's parts, for comparing them after a call."""
    return tuple(one.model_copy(deep=True) for one in (source.scenario, source.config, source.trace))


def _call(name: str, function: Callable[..., T], *given: Any) -> T:
    try:
        return function(*given)
    except Exception as error:
        raise _RaisedError(
            f"{name} raised {one_line(error)}; it must cope with any run, or lack() say what it needs"
        ) from error
