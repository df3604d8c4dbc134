"""Assertions that would have killed a survivor, derived from stored runs and checked on them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from agentmut._base import digest_of
from agentmut.campaign import StoredCampaign
from agentmut.insight.explain.candidates import Candidate
from agentmut.insight.explain.cover import cover, enough, ranked, value
from agentmut.insight.explain.family import Family, family_of, halves
from agentmut.insight.explain.stored_runs import Run, StoredRuns, holds_in_each
from agentmut.judging import build
from agentmut.nouns import AssertionSuggestion, Intent, MutantRow, Rate, Status
from agentmut.seams import Evaluator
from agentmut.stats import wilson

BAN = "not_contains"
CHECKED = 24
"""The best candidates of a scenario, which the evaluators themselves then check."""


def mine(
    campaign: StoredCampaign,
    mutant: str,
    *,
    others: Iterable[str] | None = None,
    limit: int = 8,
    stored: StoredRuns | None = None,
) -> tuple[AssertionSuggestion, ...]:
    """Return assertions that kill a mutant on its stored runs, the best first, at most `limit`.

    Candidates are found on every second run of the original. To be proposed, an evaluator has to hold in the share
    of these, and of the held-out others, that the scenario's threshold asks for; with it the scenario must not
    fall under its threshold; and the kill rule, applied to the mutant's stored runs and the held-out ones with the
    scenario's evaluators and this one, must kill. Since many are looked at, the difference of the two rates must also
    be significant at a level with which anything at all is proposed for a mutant that behaves like the original with
    a chance of at most the campaign's alpha: `family` says how.

    Nothing is proposed for a mutant that today's evaluators kill, nor what the scenario asks for already.

    `others` are survivors that each proposal is tried on as well, by the same rules; None takes those of the run's
    result. Runs whose secrets were masked are left out: `StoredRuns.notes` counts them. Give one `stored` to several
    calls.
    """
    stored = stored or StoredRuns(campaign)
    if stored.noticed(mutant):
        return ()
    others = [row.id for row in survivors(campaign)] if others is None else others
    others = [id for id in others if not stored.noticed(id)]
    found = [
        one for scenario in stored.runs(mutant) for one in _proposals_on(stored, mutant, scenario, others)
    ]
    return tuple(_spread(_bans_once(found)))[:limit]


def suggest_assertions(
    campaign: StoredCampaign, rows: Sequence[MutantRow] | None = None, *, stored: StoredRuns | None = None
) -> tuple[AssertionSuggestion, ...]:
    """Return a small set of assertions that kill the survivors with an assertion gap, the most effective first.

    All of them together leave every scenario at its threshold on the original's stored runs: `together` says where.
    `rows` are those of the run's `result.json` unless others are given. Raises `UsageError` where it is missing.
    """
    stored = stored or StoredRuns(campaign)
    left = survivors(campaign) if rows is None else [row for row in rows if _survived(row)]
    unnoticed = [row for row in left if not stored.noticed(row.id)]
    wanted = [row.id for row in unnoticed if row.gap == "assertion"]
    names = [row.id for row in unnoticed]
    mined = chain.from_iterable(mine(campaign, id, others=names, stored=stored) for id in wanted)
    return cover(_best_of_each(mined), wanted, stored)


def survivors(campaign: StoredCampaign) -> list[MutantRow]:
    """Return the degrading mutants that survived the run. Raise `UsageError` if it has no result yet."""
    return [row for row in campaign.result().mutants if _survived(row)]


def _survived(row: MutantRow) -> bool:
    return row.status is Status.SURVIVED and row.intent is Intent.DEGRADE


def _best_of_each(mined: Iterable[AssertionSuggestion]) -> list[AssertionSuggestion]:
    """Keep the proposal with the widest margin among those from several mutants."""
    best: dict[str, AssertionSuggestion] = {}
    for one in mined:
        if one.id not in best or value(one) > value(best[one.id]):
            best[one.id] = one
    return list(best.values())


def _bans_once(found: Sequence[AssertionSuggestion]) -> list[AssertionSuggestion]:
    """Keep a forbidden text on one scenario: the one whose runs differ most, since the input has to bring it about."""
    ordered = sorted(found, key=lambda one: (-one.margin, one.id))
    first = {one.evaluator.argument: one.id for one in reversed(ordered) if one.evaluator.name == BAN}
    return [one for one in found if one.evaluator.name != BAN or first[one.evaluator.argument] == one.id]


def _spread(found: Iterable[AssertionSuggestion]) -> Iterator[AssertionSuggestion]:
    """Yield the proposals, the best first; repetitions of scenario, evaluator and margin come last."""
    ordered = sorted(sorted(found, key=lambda one: one.id), key=value, reverse=True)
    seen, later = set(), []
    for one in ordered:
        kind = (one.scenario, one.evaluator.name, one.margin)
        if kind in seen:
            later.append(one)
        else:
            seen.add(kind)
            yield one
    yield from later


def _proposals_on(
    stored: StoredRuns, mutant: str, scenario: str, others: Sequence[str]
) -> Iterator[AssertionSuggestion]:
    """Yield the checked proposals of one scenario."""
    family = family_of(stored, mutant, scenario)
    for one in _promising(family, stored.threshold(scenario))[:CHECKED] if family else ():
        if made := _Check(stored, scenario, one).suggestion_for(mutant, others):
            yield made


def _promising(family: Family, least: float) -> list[Candidate]:
    """Return the candidates whose rates differ and that the held-out runs pass, the clearest first."""
    found = [
        (_rank(one, _margin(original, mutant)), one)
        for one, original, mutant in family.clear()
        if original.held >= least * original.of
    ]
    return [one for _, one in sorted(found, key=lambda each: each[0], reverse=True)]


def _rank(candidate: Candidate, margin: float) -> tuple[bool, bool, int, float]:
    telling, worth = ranked(margin, candidate.generality)
    return candidate.firm, telling, candidate.grounded, worth


def _margin(original: Rate, mutant: Rate) -> float:
    return wilson(original.held, original.of).low - wilson(mutant.held, mutant.of).high


@dataclass
class _Check:
    """One candidate, judged by the evaluator itself."""

    stored: StoredRuns
    scenario: str
    candidate: Candidate
    evaluator: Evaluator = field(init=False)
    _holds: dict[int, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.evaluator = build(self.candidate.spec, self.stored.catalogue)

    def suggestion_for(self, mutant: str, others: Sequence[str]) -> AssertionSuggestion | None:
        """Return the proposal, if the original passes it and the mutant is killed."""
        baseline, held_out = self._rates()
        if not self._suits(baseline, held_out) or not self._kills(mutant):
            return None
        rate = self._rate(self.stored.runs_on(mutant, self.scenario))
        also = [id for id in others if id != mutant and self._clearly(id)]
        spec = self.candidate.spec
        return AssertionSuggestion(
            id=digest_of([self.scenario, spec.model_dump(mode="json")])[:8],
            scenario=self.scenario,
            evaluator=spec,
            why=f"{self.candidate.says} in {baseline} runs of the original and in {rate} of the mutant",
            mutants=(mutant, *also),
            baseline=baseline,
            held_out=held_out,
            mutant=rate,
            margin=round(_margin(baseline, rate), 6),
            generality=round(self.candidate.generality, 6),
            grounded=self.candidate.grounded,
            basis=self.candidate.basis,
        )

    def _rates(self) -> tuple[Rate, Rate]:
        original = self.stored.runs_on("", self.scenario)
        return self._rate(original), self._rate(halves(original)[1])

    def _suits(self, baseline: Rate, held_out: Rate) -> bool:
        """Return whether the original passes often enough, by this evaluator alone and with the scenario's others."""
        least, original = self.stored.threshold(self.scenario), self.stored.runs_on("", self.scenario)
        before = [run.passed for run in original]
        after = [run.passed and self._held(run) for run in original]
        kept = enough(original, before, after, least)
        return kept and all((rate.share or 0.0) >= least for rate in (baseline, held_out))

    def _kills(self, mutant: str) -> bool:
        """Return whether the candidate kills the mutant on the held-out runs, which did not choose the candidate."""
        _, held_out = halves(self.stored.runs_on("", self.scenario))
        return bool(self.stored.runs_on(mutant, self.scenario)) and self.stored.kills(
            mutant, self.scenario, self._fails, held_out
        )

    def _clearly(self, mutant: str) -> bool:
        """Return whether the candidate kills another survivor and would be proposed for that one too."""
        if not self._kills(mutant):
            return False
        family = family_of(self.stored, mutant, self.scenario)
        return family is not None and family.is_clear(self.candidate)

    def _rate(self, runs: Sequence[Run]) -> Rate:
        return Rate(held=sum(map(self._held, runs)), of=len(runs))

    def _held(self, run: Run) -> bool:
        known = self._holds.get(id(run))
        if known is None:
            (known,) = holds_in_each(self.evaluator, self.stored.scenario(self.scenario), [run])
            self._holds[id(run)] = known  # `stored` keeps its runs, so that an id stays the run's
        return known

    def _fails(self, run: Run) -> bool:
        return not (run.passed and self._held(run))
