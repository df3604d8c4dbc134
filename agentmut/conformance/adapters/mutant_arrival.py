"""Check whether mutants of every class arrive, and whether an adapter leaves configs unchanged."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from agentmut.conformance.adapters.observed_runs import (
    ObservedRun,
    RunRequest,
    Subject,
    observe,
    whole_config,
)
from agentmut.mutation import DropKind, Generation, generate
from agentmut.nouns import CHANGED, Action, AgentConfig, Ending, Exchange, Mutant, OperatorClass, Reach
from agentmut.seams import Adapter, Catalogue, Group, OnDemand, OperatorOptions
from agentmut.trial import Detector

OTHER_MODEL = "agentmut-other-model"
CLASSES = (
    OperatorClass.PROMPT,
    OperatorClass.TOOL,
    OperatorClass.MODEL,
    OperatorClass.CONTEXT,
    OperatorClass.ORCHESTRATION,
)
_OPTIONS = OperatorOptions(swap_models=(OTHER_MODEL,), slow_seconds=0.05)
_PLACE_PARTS = 3


def config_faults(subject: Subject) -> Iterator[str]:
    """Yield faults of `get_config`, which returns what runs, and of `with_config`, which copies the adapter."""
    adapter = subject.adapter
    config = adapter.get_config()
    before = config.model_copy(deep=True)
    other = config.model_copy(update={"prompt": f"{config.prompt} Be brief."})
    changed = adapter.with_config(other)
    if changed is adapter:
        yield "with_config gave the adapter itself; it must make another"
    if changed.get_config() != other:
        yield "the adapter that with_config made has another config than it was given"
    if adapter.get_config() != before:
        yield "with_config changed the config of the adapter that it was called on"
    if config != before:
        yield "with_config changed the config that get_config had given"
    if adapter.with_config(before).get_config() != before:
        yield "with_config of the same config gives another one"
    yield from _tool_faults(subject, adapter, before)


def _tool_faults(subject: Subject, adapter: Adapter, config: AgentConfig) -> Iterator[str]:
    known = {*config.tool_names, *(tool.name for tool in adapter.get_tools())}
    for tool in subject.expect_tools:
        if tool not in known:
            yield f"neither get_config() nor get_tools() has the tool {tool!r}"


class Support(NamedTuple):
    """The outcome of the mutants of an operator class."""

    delivered: tuple[str, ...] = ()
    """Operators of mutants that were seen to arrive: one for each kind of place."""
    refused: Mapping[str, str] = MappingProxyType({})
    """Operators none of whose mutants the adapter can express, with its reason for the first."""
    not_met: tuple[str, ...] = ()
    """Operators of mutants of the flow that were carried out, where the run took the same course without them."""


def _generation(subject: Subject) -> Generation:
    adapter, config = whole_config(subject)
    catalogue = Catalogue.from_group(Group.OPERATORS)
    kinds = (catalogue.load(name) for name in catalogue.names)
    operators = [kind() for kind in kinds if not issubclass(kind, OnDemand)]
    return generate(config, operators, _OPTIONS, cannot_express=adapter.cannot_express)


def mutants_by_class(subject: Subject, found: Generation) -> dict[OperatorClass, list[Mutant]]:
    """Return one mutant for each kind of place that operators change and that the adapter can express."""
    chosen: dict[tuple[OperatorClass, str], Mutant] = {}
    for mutant in found.mutants:
        if mutant.operator_class in CLASSES and _reached(mutant, subject):
            chosen.setdefault((mutant.operator_class, _place(mutant)), mutant)
    return {c: [m for (kind, _), m in chosen.items() if kind is c] for c in CLASSES}


def _refused(found: Generation) -> dict[OperatorClass, dict[str, str]]:
    """Return, by class, the operators whose mutants can all not be expressed."""
    able = {mutant.operator for mutant in found.mutants}
    refused: dict[OperatorClass, dict[str, str]] = {one: {} for one in CLASSES}
    for dropped in found.dropped:
        mutant = dropped.mutant
        if mutant and dropped.kind is DropKind.NOT_EXPRESSIBLE and mutant.operator not in able:
            refused.setdefault(mutant.operator_class, {}).setdefault(mutant.operator, dropped.reason)
    return refused


def _place(mutant: Mutant) -> str:
    """Return the place of a mutant's edits without the name of a tool or document, and with the kind of its fault."""
    edit = mutant.edits[0]
    parts = [part for part in edit.path if not part.isdigit()][: _PLACE_PARTS - 1]
    removed = "-" if edit.removes_item else "+" if edit.inserts_item else ""
    return "/".join(parts) + removed


def _reached(mutant: Mutant, subject: Subject) -> bool:
    """Return whether a run of the subject comes to what the mutant changes."""
    if mutant.reach is Reach.REPEATED:
        return False
    if mutant.reach is Reach.CONVERSED:
        return len(subject.turns) > 1
    return mutant.reach is not Reach.CALLED or mutant.subject in subject.expect_tools


async def mutation_faults(
    subject: Subject, wanted: Collection[OperatorClass]
) -> tuple[dict[str, list[str]], dict[str, Support]]:
    """Return, by class, the mutants that left no sign, and the support of each class.

    One that the adapter says it cannot be is none of the faults.
    """
    _, config = whole_config(subject)
    generation = _generation(subject)
    chosen = mutants_by_class(subject, generation)
    mutants = [mutant for one in wanted for mutant in chosen[one]]
    asked = [RunRequest(f"mutant-{mutant.id}", mutant=mutant) for mutant in mutants]
    faults: dict[str, list[str]] = {one: [] for one in wanted}
    delivered: dict[str, list[str]] = {one: [] for one in wanted}
    not_met: dict[str, list[str]] = {one: [] for one in wanted}
    observed = await observe(subject, *asked)
    same = await _same_course(subject, [run for run in observed if _changes_flow(run)])
    for mutant, found in zip(mutants, observed, strict=True):
        missing = list(_arrival_faults(mutant, config, found))
        faults[mutant.operator_class] += missing
        if not missing:
            (not_met if mutant.id in same else delivered)[mutant.operator_class].append(mutant.operator)
    if OperatorClass.PROMPT in wanted and not config.prompt:
        faults[OperatorClass.PROMPT].append("the agent's config has no prompt; give it one for the check")
    refused = _refused(generation)
    return faults, {one: Support(_once(delivered[one]), refused[one], _once(not_met[one])) for one in wanted}


def _changes_flow(run: ObservedRun) -> bool:
    mutant = run.asked.mutant
    return mutant is not None and mutant.operator_class is OperatorClass.ORCHESTRATION


async def _same_course(subject: Subject, observed: Sequence[ObservedRun]) -> frozenset[str]:
    """Return the mutants whose runs took the course that the original takes under the same name, as the simulator's
    dice do.

    What the original itself does not do twice alike is left out.
    """
    if not observed:
        return frozenset()
    originals = [RunRequest(run.asked.id) for run in observed]
    courses = [course_of(run) for run in await observe(subject, *originals)]
    [again] = await observe(subject, originals[0])
    stable = [part for part, seen in course_of(again).items() if courses[0][part] == seen]
    pairs = zip(observed, courses, strict=True)
    same = [run for run, course in pairs if all(course_of(run)[part] == course[part] for part in stable)]
    return frozenset(run.asked.mutant.id for run in same if run.asked.mutant)


def _once(operators: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(operators))


def _arrival_faults(mutant: Mutant, config: AgentConfig, found: ObservedRun) -> Iterator[str]:
    name = f"{mutant.operator} ({mutant.description})"
    if found.execution.ending is Ending.UNBUILDABLE:
        yield f"{name}: cannot_express says nothing against it, but it could not be built: {found.execution.reason}"
        return
    seen = found.execution.footprint
    if Detector(mutant, config).witness(seen):
        return
    if mutant.reach is Reach.RAN and CHANGED in seen.marks:
        return  # it was carried out; this run did not come to it
    yield (
        f"{name}: nothing of it was in what the run sent, read or did, and cannot_express says nothing against it. "
        "Have the agent use it as with_config gives it, or give the reason in cannot_express"
    )


def course_of(run: ObservedRun) -> Mapping[str, object]:
    """Return the course of a run by part: requests, tool calls, agents, edges, and the ending."""
    trace = run.seen.trace if run.seen else None
    return {
        "requests": Counter(map(_content_of_request, run.exchanges)),
        "calls": Counter(
            (step.node, step.tool, step.error is None)
            for step in run.recorder.steps
            if step.action is Action.CALL_TOOL
        ),
        "nodes": frozenset(run.recorder.nodes),
        "edges": frozenset(trace.edges if trace else run.recorder.edges),
        "ending": run.execution.ending,
    }


def _content_of_request(exchange: Exchange) -> tuple[object, ...]:
    """Return the content of a request without ids, which may differ in each run."""
    request = exchange.request
    messages = tuple((one.role, one.text, tuple(c.name for c in one.tool_calls)) for one in request.messages)
    return exchange.node, request.model, messages, tuple(tool.name for tool in request.tools)
