"""Follow-ups that change nothing, where nothing can be run: stored runs of the same scenario are such follow-ups."""

from dataclasses import replace

from agentmut.engine.relating.follow_ups import TrialRef
from agentmut.engine.relating.lane import Lane


def from_sources(lane: Lane) -> Lane:
    """The lane with source runs as its follow-ups, where they change nothing; any other lane as it is.

    Every second group of runs makes a pair; the groups between them are the identity that the pairs are compared with.
    """
    subject, agent, scenario = lane.subject, lane.subject.agent.id, lane.subject.scenario.name
    kinds = {trial[:2] for planned in lane.planned for trial in planned.trials}
    if kinds != {(agent, scenario)}:
        return lane
    groups = subject.material.groups(lane.again + 1)
    control = tuple(run for group in groups[::2] for run in group)
    known = {planned.source.repeat: planned for planned in lane.planned}
    own = [
        known[first.repeat]._replace(trials=tuple(TrialRef(agent, scenario, run.repeat) for run in others))
        for first, *others in groups[1::2]
        if first.repeat in known
    ]
    if not own:
        return lane
    return replace(
        lane, subject=subject._replace(material=subject.material._replace(runs=control)), planned=own
    )
