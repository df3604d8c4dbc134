"""What an analysis counts, run by run: no run stays in memory once it is counted."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from agentmut.assessment import CheckCounts, clause_rows
from agentmut.campaign import ScenarioRuns, bounds_of
from agentmut.nouns import Scenario
from agentmut.stats import bonferroni_intervals, mean_over_scenarios
from agentmut.store import ContractRow
from agentmut.usecases.analysis_rows import EvaluatorRow, GroupRow, ScenarioRow, SpentElsewhere
from agentmut.usecases.analysis_runs import JudgedRun, Judges

ERROR = 0.05
"""The chance that any interval of a table misses, read together."""


@dataclass
class SpentTally:
    """What runs cost by their records."""

    usd: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, run: JudgedRun) -> None:
        """Count one run."""
        prices = [step.usd for step in run.trace.steps if step.usd is not None]
        usage = run.trace.usage
        self.usd += sum(prices)
        self.counts["priced"] += bool(prices)
        self.counts["counted"] += bool(usage.total)
        self.counts["inputs"] += usage.input_tokens
        self.counts["outputs"] += usage.output_tokens

    def row(self) -> SpentElsewhere:
        """Return the sums."""
        return SpentElsewhere(
            usd=round(self.usd, 6),
            priced=self.counts["priced"],
            input_tokens=self.counts["inputs"],
            output_tokens=self.counts["outputs"],
            counted=self.counts["counted"],
        )


@dataclass
class ScenarioTally:
    """The runs of one scenario, as far as its rates and its reliability need them."""

    passed: bytearray = field(default_factory=bytearray)
    """1 for each run that passed, 0 for each that failed, in the order of their start."""
    unjudged: int = 0
    seconds: list[float] = field(default_factory=list)
    setup_seconds: float = 0.0
    spent: SpentTally = field(default_factory=SpentTally)

    def add(self, run: JudgedRun) -> None:
        """Count one run that is evidence."""
        self.spent.add(run)
        if run.passed is None:
            self.unjudged += 1
            return
        self.passed.append(run.passed)
        self.setup_seconds += run.trace.setup_seconds
        if run.trace.seconds > 0:
            self.seconds.append(run.trace.seconds)

    def runs(self, name: str, scenario: Scenario | None) -> ScenarioRuns:
        """Return the judged runs; `scenario` is the project's of that name, which has the category."""
        return ScenarioRuns(
            name,
            sum(self.passed),
            len(self.passed),
            tuple(map(bool, self.passed)),
            tuple(self.seconds),
            scenario.category if scenario else None,
            self.setup_seconds,
        )


def scenario_rows(tallies: Mapping[str, ScenarioTally]) -> Iterator[ScenarioRow]:
    """Yield each scenario, with intervals that hold together."""
    judged = {name: (sum(tally.passed), len(tally.passed)) for name, tally in tallies.items() if tally.passed}
    joint = bonferroni_intervals(list(judged.values()), 1 - ERROR, "clopper-pearson") if judged else ()
    intervals = dict(zip(judged, map(bounds_of, joint), strict=True))
    for name, tally in tallies.items():
        spent = tally.spent.row()
        yield ScenarioRow(
            scenario=name,
            runs=len(tally.passed),
            passes=sum(tally.passed),
            interval=intervals.get(name),
            unjudged=tally.unjudged,
            tokens=spent.input_tokens + spent.output_tokens,
            usd=spent.usd if spent.priced else None,
        )


@dataclass
class GroupTally:
    """Passes and runs by the value of a field and by scenario."""

    counts: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)

    def add(self, value: str, run: JudgedRun) -> None:
        """Count one run that was judged."""
        own = self.counts.setdefault(value, {})
        passes, total = own.get(run.found.scenario, (0, 0))
        own[run.found.scenario] = passes + bool(run.passed), total + 1

    def rows(self) -> Iterator[GroupRow]:
        """Yield the pass rate of each value, with intervals that hold together."""
        for value, own in sorted(self.counts.items()):
            counts = list(own.values())
            rate = mean_over_scenarios(counts, level=1 - ERROR / len(self.counts))
            method = f"{rate.method}, jointly for {len(self.counts)} by Bonferroni"
            yield GroupRow(
                value=value,
                scenarios=len(counts),
                runs=sum(total for _, total in counts),
                passes=sum(passes for passes, _ in counts),
                pass_rate=bounds_of(rate._replace(method=method)),
            )


@dataclass
class EvaluatorTally:
    """The verdicts of evaluators, and the violated clauses of contracts."""

    passes: Counter[str] = field(default_factory=Counter)
    total: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    contracts: dict[str, CheckCounts] = field(default_factory=dict)
    own: dict[str, Judges] = field(default_factory=dict)

    def add(self, run: JudgedRun, judges: Judges) -> None:
        """Count one run that is evidence."""
        for check in run.checks:
            self.total[check.evaluator] += 1
            self.passes[check.evaluator] += check.passed
            if not check.passed:
                self.first.setdefault(check.evaluator, f"{run.found.trial.place}: {check.reason}")
        self.own[judges.key] = judges
        self.contracts.setdefault(judges.key, CheckCounts()).take_in(run.checks)

    def rows(self) -> Iterator[EvaluatorRow]:
        """Yield each evaluator in the order of names."""
        for name, count in sorted(self.total.items()):
            first = self.first.get(name, "")
            yield EvaluatorRow(evaluator=name, passes=self.passes[name], runs=count, first=first)

    def contract_rows(self) -> Iterator[ContractRow]:
        """Yield each contract with its violated clauses, over all scenarios with the same evaluators."""
        for key, checked in self.contracts.items():
            yield from clause_rows(self.own[key].evaluators, checked)
