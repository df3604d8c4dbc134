"""The knowledge of the unchanged agent that a plan rests on: stored trials, and assumptions where they end."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from agentmut._base import canonical_json
from agentmut.campaign import (
    IDENTITY_ALPHA,
    MOST_READ,
    Plan,
    ScenarioBaseline,
    Session,
    TrialResult,
    reached,
    stored_originals,
    tried_on,
)
from agentmut.nouns import Intent, Mutant, Reach, Scenario, Usage
from agentmut.seams import AsksNoModel
from agentmut.store import Store
from agentmut.trial import Detector, Pricer, inside, provider_of
from agentmut.usecases.assumed_usage import CALL, CHARACTERS, answer_tokens, assumed_usage, model_calls
from agentmut.usecases.foresight import RUNS, Lanes
from agentmut.usecases.plan_figures import (
    KILLED,
    KILLED_IN_FLOW,
    STRONG,
    USUAL_RATE,
    PlannedMutant,
    Unit,
    chance_of_kill,
    expected_rate,
)
from agentmut.wire import slowest_rate

STEP = 0.02
"""Mean pass rates are rounded to multiples of this, so that mutants share their figures."""
LARGEST_RATE = 0.99


class _Trials(NamedTuple):
    """The stored evidence trials of the original on one scenario."""

    results: tuple[TrialResult, ...]
    baseline: ScenarioBaseline


class KnownOriginal:
    """The stored knowledge of the unchanged agent, and the assumptions where it ends."""

    def __init__(self, session: Session, store: Store, rate: float | None) -> None:
        self._session = session
        self._store = store
        self._rate = rate
        project = session.project
        self._asks_model = not isinstance(inside(session.adapter), AsksNoModel)
        self._pricer = Pricer(project.budget.prices, provider_of(project))

    @cached_property
    def stored(self) -> Mapping[str, _Trials]:
        """Return stored trials by scenario; scenarios without a trial are left out."""
        kept, _ = stored_originals(self._session, self._store, most=MOST_READ)
        found = {}
        for name, trials in kept.items():
            baseline = ScenarioBaseline(wanted=len(trials))
            judged = [self._session.tests.result(name, trial.execution, None) for trial in trials]
            for number, result in enumerate(judged):
                baseline.record(result, number)
            evidence = tuple(result for result in judged if result.outcome.is_evidence)
            if evidence:
                found[name] = _Trials(evidence, baseline)
        return found

    @property
    def whole(self) -> bool:
        """Return whether every scenario has trials, so that its reach is known."""
        return len(self.stored) == len(self._session.scenarios)

    def planned(self, mutant: Mutant) -> PlannedMutant:
        """Return a mutant with the scenarios that reach it and the price of its trials."""
        names = self._reaching(mutant)
        return PlannedMutant(
            group=str(mutant.operator_class),
            degrades=mutant.intent is Intent.DEGRADE,
            lanes=self._lanes(names) if names else None,
            usd=self._usd(mutant),
            killed=chance_of_kill(mutant),
            of_model=any(edit.pointer == "/model/name" for edit in mutant.edits),
        )

    def control(self, mutant: Mutant) -> PlannedMutant:
        """Return a control, which every scenario reaches."""
        lanes = self._lanes([scenario.name for scenario in self._session.scenarios])
        return PlannedMutant("control", bool(mutant.edits), lanes, self._usd(mutant))

    def _reaching(self, mutant: Mutant) -> list[str]:
        if not self.whole:
            return self._probably_reaching(mutant)
        suite, tests = self._session.suite, self._session.tests
        baselines = {name: found.baseline for name, found in self.stored.items()}
        where = reached(mutant, Detector(mutant, suite.full), suite, baselines, tests.scenarios)
        statistics = self._session.project.statistics
        return list(tried_on(where, statistics.scenarios_to_clear, statistics.seed, mutant.id).scenarios)

    def _probably_reaching(self, mutant: Mutant) -> list[str]:
        """Return the scenarios that probably reach a mutant, by their documents and the names in their evaluators."""
        scenarios, suite = self._session.scenarios, self._session.suite
        if mutant.reach is Reach.CARRIED:
            carriers = suite.carriers(mutant.subject)
            return [scenario.name for scenario in scenarios if scenario.name in carriers]
        if mutant.reach is Reach.CONVERSED:
            return [scenario.name for scenario in scenarios if len(scenario.turns) > 1]
        if mutant.reach in (Reach.CALLED, Reach.REPEATED):
            named = [scenario.name for scenario in scenarios if _names(scenario, mutant.subject)]
            return named or [scenario.name for scenario in scenarios]
        return [scenario.name for scenario in scenarios]

    def _lanes(self, names: Sequence[str]) -> Lanes:
        rates = [self._pass_rate(name) for name in names]
        return Lanes(len(names), min(LARGEST_RATE, round(sum(rates) / len(rates) / STEP) * STEP))

    def _pass_rate(self, name: str) -> float:
        if self._rate is not None:
            return self._rate
        threshold = self._session.project.threshold_of(self._session.tests.scenarios[name])
        usual = max(USUAL_RATE, (1 + threshold) / 2)
        if name not in self.stored:
            return usual
        baseline = self.stored[name].baseline
        return expected_rate(baseline.passes, baseline.trials, usual)

    @cached_property
    def _results(self) -> list[TrialResult]:
        return [result for found in self.stored.values() for result in found.results]

    @cached_property
    def usage(self) -> Usage:
        """Return the tokens of one trial: the mean of the stored trials, or an estimate from the agent's texts."""
        if self._results:
            used = [result.trace.usage for result in self._results]
            return Usage(
                input_tokens=round(sum(each.input_tokens for each in used) / len(used)),
                output_tokens=round(sum(each.output_tokens for each in used) / len(used)),
            )
        return (
            assumed_usage(self._session.suite.full, self._session.scenarios) if self._asks_model else Usage()
        )

    @cached_property
    def _own_usd(self) -> float | None:
        """Return the price of one trial of the original."""
        if not self._asks_model:
            return 0.0
        if self._results:
            usd = [result.usd for result in self._results]
            known = [each for each in usd if each is not None]
            return sum(known) / len(known) if len(known) == len(usd) else None
        return self.priced(self._session.suite.full.model.name)

    def priced(self, model: str) -> float | None:
        """Return the price of one trial with a model; None where it is not known."""
        return self._pricer.cost(model, self.usage) if model else None

    def _usd(self, mutant: Mutant) -> float | None:
        """Return the price of one trial of a mutant, which depends on the mutant's model."""
        models = [str(edit.after) for edit in mutant.edits if edit.pointer == "/model/name"]
        if not models or (self._results and not self.usage.total):
            return self._own_usd
        return self.priced(models[0])

    def unit(self, mutants: int, campaign: Plan) -> Unit:
        """Return what a trial takes, and how many go on at a time."""
        seconds = [result.seconds for result in self._results]
        mean = sum(seconds) / len(seconds) if seconds else None
        at_a_time = max(1, min(campaign.concurrency, mutants * campaign.window))
        limit = slowest_rate(self._session.project.execution.requests_per_minute)
        if mean is not None and limit:
            mean = max(mean, 60 * at_a_time / limit)
        return Unit(self._own_usd, mean, at_a_time)

    def assumptions(self, campaign: Plan) -> Iterator[str]:
        """Yield what the figures rest on, each as a sentence."""
        yield from self._about_rates()
        yield from self._about_price()
        yield from self._about_time()
        yield from self._about_reach()
        yield (
            "each degrading mutant lowers the pass rate of one scenario, scenarios are independent, and each scenario "
            "that reaches a mutant has their mean pass rate. Chances are exact; numbers of trials on several "
            f"scenarios are means of {RUNS} simulated mutants"
        )
        if campaign.rounds:
            yield (
                "the first round kills as large a share of the degrading mutants as earlier runs did, by drops of "
                f"{STRONG:g}. Without an earlier run the share is {KILLED:g}, and {KILLED_IN_FLOW:g} for changes of "
                "the flow. A survivor takes in each round what that round takes alone"
            )
        if campaign.rule.suite_share:
            yield "the test of the suite as a whole (statistics.suite_share) is left out; it kills a few more mutants"
        if self._session.project.mutation.proxy:
            yield "the figures, except those of mutation.proxy, are of a run of all mutants with the agent's own model"
        if campaign.baseline_limit:
            yield "the budget may cut the baseline once the first trials show their cost"
        yield f"the unchanged agent, a control at level {IDENTITY_ALPHA:g}, costs as much as a harmless mutant"
        yield "no stored trial is reused; each one that is reused lowers the cost"

    def _about_rates(self) -> Iterator[str]:
        count = len(self._results)
        without = len(self._session.scenarios) - len(self.stored)
        if self._rate is not None:
            yield f"every scenario passes at {self._rate:g} (--rate)"
            return
        if count:
            yield f"pass rates are those of {count} stored runs of the agent as it is"
        if without:
            yield (
                f"{without} scenario{'s have' if without > 1 else ' has'} no stored run: the assumed pass rate is "
                f"{USUAL_RATE:g}, or halfway from the threshold to 1 if that is more"
            )

    def _about_reach(self) -> Iterator[str]:
        if self.whole:
            yield "mutants are tried on the scenarios whose stored runs reach what they change"
        else:
            yield (
                "a mutant of a tool is reached by the scenarios whose evaluators name the tool, or else by all "
                "scenarios; a mutant of the prompt or the model by all. `--probe 1` finds out which scenarios reach it"
            )

    def _about_price(self) -> Iterator[str]:
        if not self._asks_model:
            yield "runs ask no model, so they have no price"
            return
        usage = self.usage
        tokens = f"{usage.input_tokens} input and {usage.output_tokens} output tokens"
        if self._results:
            yield f"a run takes {tokens}, the mean of the stored ones"
        else:
            config = self._session.suite.full
            calls = sum(model_calls(config, self._session.scenarios))
            answer = answer_tokens(config.system_text())
            yield (
                f"no run is stored; a run is assumed to use {tokens} ({calls:.3g} model calls, {CHARACTERS} characters "
                f"a token, {answer} tokens an answer, {CALL} tokens a call of a tool). `--probe 3` measures it"
            )
        if self._own_usd is None:
            model = self._session.suite.full.model.name or "the agent's model"
            yield f"the price of {model} is not known, so no cost is shown; `budget.prices` sets it"

    def _about_time(self) -> Iterator[str]:
        if not self._results:
            yield "no run is stored, so no time is shown"
            return
        mean = sum(result.seconds for result in self._results) / len(self._results)
        most = self._session.project.execution.concurrency
        yield f"a run takes {mean:.2g} s, the mean of the stored ones, and up to {most} go on at a time without loss"


def _names(scenario: Scenario, tool: str) -> bool:
    return any(tool in canonical_json(each.model_dump(mode="json")) for each in scenario.evaluators)
