"""The questions about relations that stored runs cannot answer, because follow-up runs are missing."""

from collections.abc import Iterable, Sequence

from agentmut.relating.lane import NOT_STORED, Lane
from agentmut.relating.survivors import Survivor
from agentmut.store import NotStored


def not_stored(
    original: Iterable[Lane], mutants: Sequence[Lane], survivors: Sequence[Survivor]
) -> tuple[NotStored, ...]:
    """Map each relation to the pairs whose follow-up runs are not in the store, and to the survivors concerned."""
    own = [lane for lane in original if lane.no_evidence[NOT_STORED]]
    of_mutants = [lane for lane in mutants if lane.no_evidence[NOT_STORED]]
    labels = dict.fromkeys(lane.subject.chosen.label for lane in (*own, *of_mutants))
    return tuple(
        _not_stored(label, _lanes_labelled(label, own), _lanes_labelled(label, of_mutants), survivors)
        for label in labels
    )


def _lanes_labelled(label: str, lanes: Iterable[Lane]) -> list[Lane]:
    return [lane for lane in lanes if lane.subject.chosen.label == label]


def _not_stored(
    label: str, own: Sequence[Lane], of_mutants: Sequence[Lane], survivors: Iterable[Survivor]
) -> NotStored:
    names = tuple(dict.fromkeys(lane.subject.scenario.name for lane in (*own, *of_mutants)))
    return NotStored(
        relation=label,
        scenarios=names,
        pairs=sum(lane.no_evidence[NOT_STORED] for lane in own),
        mutant_pairs=sum(lane.no_evidence[NOT_STORED] for lane in of_mutants),
        mutants=tuple(one.mutant.id for one in survivors if set(names) & set(one.scenarios)),
    )
