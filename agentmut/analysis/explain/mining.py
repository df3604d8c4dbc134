"""Assertions that would have killed a survivor: read off stored runs, and checked on them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from agentmut.analysis.explain.candidates import Candidate, Contrast, Proposer
from agentmut.analysis.explain.cover import cover, enough, ranked, value
from agentmut.analysis.explain.of_arguments import of_arguments
from agentmut.analysis.explain.of_fields import of_fields
from agentmut.analysis.explain.of_limits import of_limits
from agentmut.analysis.explain.of_text import OFTEN, frequent_patterns, of_text
from agentmut.analysis.explain.of_tools import of_tools
from agentmut.analysis.explain.runs import Bench, Run, Runs, held
from agentmut.engine.stored import StoredCampaign
from agentmut.evaluators import build
from agentmut.frozen import digest_of
from agentmut.mutant import Intent, Status
from agentmut.protocols import Evaluator
from agentmut.result import MutantRow, read_result
from agentmut.stats.intervals import wilson
from agentmut.suggestion import AssertionSuggestion, Rate

PROPOSERS: tuple[Proposer, ...] = (of_tools, of_arguments, of_text, of_fields, of_limits)
FEWEST = 4
"""Runs of the original, in each half, and of the mutant, with fewer of which nothing is proposed."""
CHECKED = 24
"""The best candidates of a scenario, which the evaluators themselves then check."""


class _Promising(NamedTuple):
    candidate: Candidate
    pattern: tuple[bool, ...]
    """In which runs it holds: first the original's, then the mutant's."""
    margin: float


def mine(
    campaign: StoredCampaign,
    mutant: str,
    *,
    others: Iterable[str] | None = None,
    limit: int = 8,
    bench: Bench | None = None,
) -> tuple[AssertionSuggestion, ...]:
    """Assertions that kill a mutant on its stored runs, the best first, at most `limit`.

    Candidates are found on every second run of the original. To be proposed, an evaluator has to hold in the share
    of these, and of the held-out others, that the scenario's threshold asks for; with it the scenario must not
    fall under its threshold; and the kill rule, applied to the mutant's stored runs with the scenario's evaluators
    and this one, must kill. Since many are tried, the difference of the two rates must also be significant
    (Fisher's exact test, on all runs) at the campaign's alpha divided by the number of candidates that differ in some
    run, counting phrases of either side that were frequent enough to be looked at.

    Nothing is proposed for a mutant that today's evaluators kill, nor what the scenario asks for already.

    `others` are survivors that each proposal is tried on as well; None takes those of the run's result. Runs whose
    secrets were masked are left out: `Bench.notes` counts them. Give one `bench` to several calls.
    """
    bench = bench or Bench(campaign)
    if bench.noticed(mutant):
        return ()
    others = [row.id for row in survivors(campaign)] if others is None else others
    others = [id for id in others if not bench.noticed(id)]
    found = [one for scenario in bench.runs(mutant) for one in _on(bench, mutant, scenario, others)]
    return tuple(_spread(found))[:limit]


def suggest_assertions(
    campaign: StoredCampaign, rows: Sequence[MutantRow] | None = None, *, bench: Bench | None = None
) -> tuple[AssertionSuggestion, ...]:
    """A small set that kills the survivors with an assertion gap, those that kill the most of them first.

    All of them together leave every scenario at its threshold on the original's stored runs: `together` says where.
    `rows` are those of the run's `result.json` unless others are given. Raises `UsageError` where it is missing.
    """
    bench = bench or Bench(campaign)
    left = survivors(campaign) if rows is None else [row for row in rows if _survived(row)]
    unnoticed = [row for row in left if not bench.noticed(row.id)]
    wanted = [row.id for row in unnoticed if row.gap == "assertion"]
    names = [row.id for row in unnoticed]
    mined = chain.from_iterable(mine(campaign, id, others=names, bench=bench) for id in wanted)
    return cover(_best_of_each(mined), wanted, bench)


def survivors(campaign: StoredCampaign) -> list[MutantRow]:
    """The degrading mutants that survived the run. Raises `UsageError` where it has no result yet."""
    result = read_result(campaign.session.project.runs / campaign.run.id / "result.json")
    return [row for row in result.mutants if _survived(row)]


def _survived(row: MutantRow) -> bool:
    return row.status is Status.SURVIVED and row.intent is Intent.DEGRADE


def _best_of_each(mined: Iterable[AssertionSuggestion]) -> list[AssertionSuggestion]:
    """Of proposals that several mutants led to, the one with the widest margin."""
    best: dict[str, AssertionSuggestion] = {}
    for one in mined:
        if one.id not in best or value(one) > value(best[one.id]):
            best[one.id] = one
    return list(best.values())


def _spread(found: Iterable[AssertionSuggestion]) -> Iterator[AssertionSuggestion]:
    """The best first; of those that tell the same runs apart equally well, one before all others."""
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


def _on(bench: Bench, mutant: str, scenario: str, others: Sequence[str]) -> Iterator[AssertionSuggestion]:
    """What is found on one scenario and stands the check."""
    original, runs = bench.of("", scenario), bench.of(mutant, scenario)
    if len(original) < 2 * FEWEST or len(runs) < FEWEST:
        return
    for promising in _promising(bench, scenario, original, runs)[:CHECKED]:
        if made := _Check(bench, scenario, promising.candidate).of(mutant, others):
            yield made


def _promising(bench: Bench, scenario: str, original: Runs, runs: Runs) -> list[_Promising]:
    """The candidates whose rates differ, the clearest first; of equals of one kind the most general."""
    least = bench.threshold(scenario)
    views = [run.view for run in original if run.answered]
    ours = [run.view for run in runs if run.answered]
    found, held_out = views[0::2], views[1::2]
    if min(len(found), len(held_out)) < FEWEST:
        return []
    patterns: dict[tuple[bool, ...], list[Candidate]] = {}
    looked_at = frequent_patterns((*views, *ours), least=OFTEN * len(ours))
    there = bench.scenario(scenario).evaluators
    for candidate in _proposed(Contrast(found, ours, least)):
        pattern = tuple(map(candidate.holds, (*views, *ours)))
        looked_at.add(pattern)
        usual = min(_share(pattern[: len(views) : 2]), _share(pattern[1 : len(views) : 2])) >= least
        if usual and candidate.spec not in there:
            patterns.setdefault(pattern, []).append(candidate)
    level = bench.campaign.plan.rule.alpha / max(1, sum(len(set(pattern)) > 1 for pattern in looked_at))
    promising = []
    for pattern, candidates in patterns.items():
        first, second = sum(pattern[: len(views)]), sum(pattern[len(views) :])
        if _p(first, len(original), second, len(runs)) <= level:
            margin = _margin(Rate(held=first, of=len(original)), Rate(held=second, of=len(runs)))
            promising += [_Promising(one, pattern, margin) for one in _one_of_a_kind(candidates)]
    return sorted(promising, key=lambda p: ranked(p.margin, p.candidate.generality), reverse=True)


def _share(pattern: Sequence[bool]) -> float:
    return sum(pattern) / len(pattern)


def _proposed(contrast: Contrast) -> Iterator[Candidate]:
    seen = set()
    for proposer in PROPOSERS:
        for candidate in proposer(contrast):
            written = candidate.spec.model_dump_json()
            if written not in seen:
                seen.add(written)
                yield candidate


def _one_of_a_kind(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Of candidates that cannot be told apart on these runs, the most general for each evaluator."""
    best: dict[str, Candidate] = {}
    for one in candidates:
        if one.spec.name not in best or one.generality > best[one.spec.name].generality:
            best[one.spec.name] = one
    return list(best.values())


@lru_cache(maxsize=4096)
def _p(held_by_original: int, original: int, held_by_mutant: int, runs: int) -> float:
    from agentmut.stats.proportions import fisher_test
    from agentmut.stats.significance import Alternative

    if held_by_original / original <= held_by_mutant / runs:
        return 1.0
    return fisher_test(held_by_original, original, held_by_mutant, runs, Alternative.GREATER).p_value


def _margin(original: Rate, mutant: Rate) -> float:
    return wilson(original.held, original.of).low - wilson(mutant.held, mutant.of).high


@dataclass
class _Check:
    """One candidate, judged by the evaluator itself."""

    bench: Bench
    scenario: str
    candidate: Candidate
    evaluator: Evaluator = field(init=False)
    _holds: dict[int, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.evaluator = build(self.candidate.spec, self.bench.catalogue)

    def of(self, mutant: str, others: Sequence[str]) -> AssertionSuggestion | None:
        """The proposal, if the original passes it and the mutant is killed."""
        baseline, held_out = self._rates()
        if not self._suits(baseline, held_out) or not self._kills(mutant):
            return None
        rate = self._rate(self.bench.of(mutant, self.scenario))
        also = [id for id in others if id != mutant and self._clearly(id, baseline, len(others))]
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
        )

    def _rates(self) -> tuple[Rate, Rate]:
        original = self.bench.of("", self.scenario)
        answered = [run for run in original if run.answered]
        return self._rate(original), self._rate(answered[1::2])

    def _suits(self, baseline: Rate, held_out: Rate) -> bool:
        """Whether the original passes often enough, by this evaluator alone and with the scenario's others."""
        least, original = self.bench.threshold(self.scenario), self.bench.of("", self.scenario)
        before, after = (
            [run.passed for run in original],
            [run.passed and self._held(run) for run in original],
        )
        kept = enough(original, before, after, least)
        return kept and all((rate.share or 0.0) >= least for rate in (baseline, held_out))

    def _kills(self, mutant: str) -> bool:
        return bool(self.bench.of(mutant, self.scenario)) and self.bench.kills(
            mutant, self.scenario, self._fails
        )

    def _clearly(self, mutant: str, baseline: Rate, tried: int) -> bool:
        """Whether it kills one of many others, and not by chance alone."""
        rate = self._rate(self.bench.of(mutant, self.scenario))
        if not rate.of or not self._kills(mutant):
            return False
        level = self.bench.campaign.plan.rule.alpha / max(1, tried)
        return _p(baseline.held, baseline.of, rate.held, rate.of) <= level

    def _rate(self, runs: Sequence[Run]) -> Rate:
        return Rate(held=sum(map(self._held, runs)), of=len(runs))

    def _held(self, run: Run) -> bool:
        known = self._holds.get(id(run))
        if known is None:
            (known,) = held(self.evaluator, self.bench.scenario(self.scenario), [run])
            self._holds[id(run)] = known  # the bench keeps its runs, so that an id stays the run's
        return known

    def _fails(self, run: Run) -> bool:
        return not (run.passed and self._held(run))
