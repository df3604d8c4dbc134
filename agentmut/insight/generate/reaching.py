"""Which mutants a proposed scenario may notice, judged by the runs of the original on it."""

from collections.abc import Callable, Sequence

from agentmut.insight.generate.proposal_material import whole
from agentmut.language import stems
from agentmut.nouns import AgentTrace, Mutant, Reach, Scenario

RELEVANT = 0.5
"""The share of a mutated text's content words that input and runs have to share."""


def noticeable(
    mutants: Sequence[Mutant], scenario: Scenario, traces: Sequence[AgentTrace], most: int
) -> tuple[Mutant, ...]:
    """At most so many mutants whose changed part these runs use, those with the most words in common first.

    The order of `mutants` decides among equals.
    """
    weighed = [(-_relevance(mutant, scenario, traces), place) for place, mutant in enumerate(mutants)]
    return tuple(mutants[place] for weight, place in sorted(weighed)[:most] if weight < 0)


def _relevance(mutant: Mutant, scenario: Scenario, traces: Sequence[AgentTrace]) -> float:
    """Return the relevance of a mutant to these runs, from 0 (cannot show) to 1."""
    subject = mutant.subject
    if mutant.reach is Reach.CALLED:
        return _share(traces, lambda trace: subject in trace.tools_called)
    if mutant.reach is Reach.REPEATED:
        return _share(traces, lambda trace: trace.tools_called.count(subject) > 1)
    if mutant.reach is Reach.RAN:
        return _share(
            traces, lambda trace: any(step.node and subject in ("", step.node) for step in trace.steps)
        )
    if mutant.reach is Reach.CONVERSED and len(scenario.turns) < 2:
        return 0.0
    overlap = _overlap(mutant, scenario, traces)
    return overlap if overlap >= RELEVANT else 0.0


def _share(traces: Sequence[AgentTrace], holds: Callable[[AgentTrace], bool]) -> float:
    share = sum(map(holds, traces)) / len(traces) if traces else 0.0
    return share if share >= RELEVANT else 0.0


def _overlap(mutant: Mutant, scenario: Scenario, traces: Sequence[AgentTrace]) -> float:
    edited = stems(" ".join(str(edit.before or edit.after) for edit in mutant.edits))
    shown = [
        whole(scenario.turns),
        *(trace.text for trace in traces),
        *(t for tr in traces for t in tr.tools_called),
    ]
    return len(edited & stems(" ".join(shown))) / len(edited) if edited else 0.0
