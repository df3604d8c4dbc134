"""Scores of groups of mutants: of all, of a class, of an operator."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from agentmut.campaign.decision.scoring import score_of_sample, share_not_killed
from agentmut.campaign.decision.state import CampaignState
from agentmut.campaign.preparation.session import Session
from agentmut.campaign.results.cheap_model import with_cheap_model
from agentmut.nouns import Intent, MutantRow, OperatorClass, Score, Status
from agentmut.stats import Grade


class GroupScores(NamedTuple):
    """Scores groups of mutants, with the error rates that the campaign knows."""

    state: CampaignState
    scoring: str

    def main(self, rows: Sequence[MutantRow]) -> Score:
        """Return the mutation score: over `degrade` mutants, or over all mutants with paper scoring (Eq. 22).

        Second-order mutants are left out: their parts are counted already.
        """
        rows = first_order(rows)
        return self._score(
            rows if self.scoring == "paper" else [r for r in rows if r.intent is Intent.DEGRADE]
        )

    def robustness(self, rows: Sequence[MutantRow]) -> Score:
        """Return the share of `preserve` mutants that lower no pass rate."""
        preserving = [row for row in first_order(rows) if row.intent is Intent.PRESERVE]
        return share_not_killed(self._score(preserving))

    def grouped(
        self, rows: Sequence[MutantRow], key: Callable[[MutantRow], str], *, degrading: bool
    ) -> Mapping[str, Score]:
        """Return a score per class or operator; operators with intent `preserve` are scored as robustness."""
        groups: dict[str, list[MutantRow]] = {}
        for row in rows:
            if not degrading or row.intent is Intent.DEGRADE or self.scoring == "paper":
                groups.setdefault(key(row), []).append(row)
        return {name: self._grouped(group) for name, group in sorted(groups.items())}

    def _grouped(self, rows: Sequence[MutantRow]) -> Score:
        preserve = all(row.intent is Intent.PRESERVE for row in rows)
        return share_not_killed(self._score(rows)) if preserve else self._score(rows)

    def _score(self, rows: Iterable[MutantRow]) -> Score:
        rows = list(rows)
        judged = [(row.status, self.state.arms.get(row.id)) for row in rows]
        graded = [Grade(row.grade) for row in rows if row.grade]
        drops, looks = self.state.drops_begun, self.state.looks
        return score_of_sample(judged, drops, looks, graded, paper=self.scoring == "paper")


def score_with_open(
    session: Session, state: CampaignState, rows: Iterable[MutantRow], waiting: Collection[str]
) -> Score:
    """Return the main score where the mutants `waiting` are undecided, as a run leaves kills that wait for trials."""
    is_open = {"status": Status.UNDECIDED, "grade": ""}
    open_rows = [
        row.model_copy(update=is_open) if row.status is Status.KILLED and row.id in waiting else row
        for row in rows
    ]
    return with_cheap_model(GroupScores(state, session.project.statistics.scoring).main(open_rows), state)[0]


def first_order(rows: Iterable[MutantRow]) -> list[MutantRow]:
    """Return the rows without those of pairs, whose parts are counted already."""
    return [row for row in rows if row.operator_class is not OperatorClass.HIGHER_ORDER]
