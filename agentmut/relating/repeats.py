"""Follow-ups that change nothing, where nothing can be run: stored runs of the same scenario serve as follow-ups."""

from dataclasses import replace

from agentmut.nouns import Expectation
from agentmut.relating.follow_ups import TrialRef
from agentmut.relating.lane import Lane

CONTROL = 3
"""One group in so many. A verdict takes some ten pairs and six controls; 50 stored runs have both."""


def from_sources(lane: Lane) -> Lane:
    """Return a lane with source runs as follow-ups, if the relation changes nothing; else the same lane.

    Every third group of runs is part of the identity that the pairs are compared with, the others are pairs. All are
    pairs where the tolerance is the measure, and of a mutant, which is compared with the pairs of the unchanged agent.
    """
    subject, agent, scenario = lane.subject, lane.subject.agent.id, lane.subject.scenario.name
    kinds = {trial[:2] for planned in lane.planned for trial in planned.trials}
    if kinds != {(agent, scenario)}:
        return lane
    groups = subject.material.groups(lane.again + 1)
    has_control = (
        subject.agent.mutant is None and subject.chosen.relation.expectation is Expectation.INVARIANT
    )
    control = tuple(run for group in groups[::CONTROL] for run in group)
    known = {planned.source.repeat: planned for planned in lane.planned}
    own = []
    for number, (first, *others) in enumerate(groups):
        is_pair = number % CONTROL or not has_control
        if is_pair and first.repeat in known:
            trials = tuple(TrialRef(agent, scenario, run.repeat) for run in others)
            own.append(known[first.repeat]._replace(trials=trials))
    if not own:
        return lane
    if has_control:
        subject = subject._replace(material=subject.material._replace(runs=control))
    return replace(lane, subject=subject, planned=own)
