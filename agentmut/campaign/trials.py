"""A finished trial as the engine sees it: the outcome, the witness, and the trace for comparisons of runs."""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from agentmut._base import NotJudgedError, digest_of, storable_json
from agentmut.judging import (
    NONE_KNOWN,
    KnownChecks,
    checks_of_users,
    judge,
    note,
    runs_users_code,
    source,
    unwrapped,
)
from agentmut.nouns import (
    AgentConfig,
    AgentTrace,
    Check,
    Ending,
    EvaluatorSpec,
    Execution,
    Footprint,
    Judgement,
    Outcome,
    Scenario,
)
from agentmut.recording import Redactor, SizeLimits, TextKeeping, cut_reason
from agentmut.seams import AsksModel, Evaluator, JudgesAtOnce
from agentmut.trial import Detector, Pricer, Witness


class Launch(NamedTuple):
    """A trial to run: the `repeat`-th of this mutant (None: the original) on this scenario."""

    mutant: str
    """Mutant id; empty for the original."""
    scenario: str
    repeat: int
    number: int
    """Position among the launches of its mutant."""
    beside: str = ""
    """For a trial of the original that is to confirm a kill: the mutant's id."""

    @property
    def arm(self) -> str:
        """Return the mutant whose decision waits for the trial; empty for the baseline and for sentinels."""
        return self.mutant or self.beside


_NO_CALLS: Mapping[str, int] = MappingProxyType({})


class TrialResult(NamedTuple):
    """The part of a trial that the engine uses."""

    outcome: Outcome
    ending: Ending
    reason: str
    checks: tuple[Check, ...]
    witness: Witness | None
    footprint: Footprint
    tools: Mapping[str, int]
    """How often each tool was called."""
    tokens: int
    usd: float | None
    """Cost; None when the price of a model that was called is unknown."""
    unpriced: frozenset[str]
    """Names of the models without a known price."""
    seconds: float
    abandoned: bool
    trace: AgentTrace = AgentTrace()
    """What the run did. Whoever records results keeps it no longer than they look at it: traces are large."""
    never_began: str = ""
    """The type of the exception that the agent raised before it did anything; see `Execution`."""
    attempts: int = 1
    """How often it was tried, where trouble of a service came first."""
    finished: float = 0.0
    """Seconds since the epoch, by the clock of the run that executed it. Names times; decides nothing."""
    stored: bool = False
    """Taken from the store: the trial says nothing of whether the agent can run now."""


class JudgedRun(NamedTuple):
    """The checks of a run."""

    outcome: Outcome
    checks: tuple[Check, ...] = ()
    reason: str = ""


class Suite(NamedTuple):
    """The tests under measurement: what judges a trial."""

    scenarios: Mapping[str, Scenario]
    evaluators: Mapping[str, tuple[Evaluator, ...]]
    texts: TextKeeping = TextKeeping()
    """What is kept of the texts of runs."""
    limits: SizeLimits = SizeLimits()
    """How much of them is kept."""
    pricer: Pricer | None = None
    """Prices that are known now: a stored run may be from before they were."""

    def asks_models(self, scenario: str) -> bool:
        """Return whether judging takes time and money, since a model is asked."""
        return any(isinstance(unwrapped(evaluator), AsksModel) for evaluator in self.evaluators[scenario])

    def judges_at_once(self, scenario: str, *, apart: bool = False) -> bool:
        """Return whether judging calls no code of others, and takes no more time than reading the run.

        With `apart`, evaluators that run code of users are left out.
        """
        asked = (
            evaluator for evaluator in self.evaluators[scenario] if not (apart and runs_users_code(evaluator))
        )
        return all(isinstance(unwrapped(evaluator), JudgesAtOnce) for evaluator in asked)

    def runs_users_code(self, scenario: str) -> bool:
        """Return whether an evaluator of the scenario runs code of users."""
        return any(map(runs_users_code, self.evaluators[scenario]))

    def checks_of_users(self, scenario: str, trace: AgentTrace) -> KnownChecks:
        """Return the checks of the evaluators that run code of users, by their places in the order."""
        return checks_of_users(self.evaluators[scenario], self.scenarios[scenario], self._priced(trace))

    def result(
        self, scenario: str, execution: Execution, detector: Detector | None, judged: JudgedRun | None = None
    ) -> TrialResult:
        """Judge an execution, unless `judged` holds its checks. The judgement depends on the mutant only by the
        witness.
        """
        outcome, checks, reason = judged or self.judged(scenario, execution)
        trace = execution.trace
        seen = self.texts.shown(execution.footprint, detector.mutated if detector else None)
        return TrialResult(
            outcome=outcome,
            ending=Ending.NOT_JUDGED if outcome is Outcome.NOT_JUDGED else execution.ending,
            reason=reason,
            checks=checks,
            witness=detector.witness(seen) if detector else None,
            footprint=seen,
            tools=Counter(called) if (called := trace.tools_called) else _NO_CALLS,
            tokens=trace.paid_tokens,
            usd=trace.paid_usd,
            unpriced=execution.unpriced_models,
            seconds=trace.seconds,
            abandoned=execution.abandoned,
            trace=trace,
            never_began=execution.never_began,
            attempts=execution.attempts,
        )

    def storable(
        self,
        scenario: str,
        execution: Execution,
        redactor: Redactor,
        judged: JudgedRun | None = None,
        mutated: AgentConfig | None = None,
        size: int = 0,
    ) -> Execution:
        """Return the execution in its storable form: without secrets, with the checks of the unredacted run.

        Its texts are left out where the project says so; `mutated` is the config that it ran with, if not the original.
        What is too long is cut; `size` is how many characters the run has kept so far.
        One that could not be judged while it was whole is none to take over: it can never be.
        """
        rough = self.limits.roughly(execution, size)
        redacted = redactor.execution(rough)
        short = self.limits.execution(redacted, size, execution.trace.characters)
        clean = self.texts.execution(short, mutated)
        if clean is execution or clean.trace == execution.trace or execution.ending.outcome is not None:
            return clean
        outcome, checks, reason = judged or self.judged(scenario, execution)
        secrets = set() if redacted is rough else redactor.secrets_in(storable_json(rough))
        if outcome is Outcome.NOT_JUDGED:
            why = self.texts.error(redactor.quoting(reason, secrets))
            return clean.model_copy(update={"ending": Ending.NOT_JUDGED, "reason": why})
        stored_checks = tuple(
            c.model_copy(update={"reason": redactor.quoting(c.reason, secrets)}) for c in checks
        )
        stored_checks = tuple(
            c.model_copy(update={"reason": cut_reason(c.reason)}) for c in self.texts.checks(stored_checks)
        )
        judgement = redactor.model(Judgement(by=self._judges(scenario), checks=stored_checks))
        return clean.model_copy(update={"trace": clean.trace.model_copy(update={"judged": judgement})})

    def can_judge(self, scenario: str, execution: Execution) -> bool:
        """Return whether an execution is complete, or was judged by these evaluators while it was complete."""
        judged = execution.trace.judged
        return judged is None or judged.by == self._judges(scenario)

    def notes(self) -> Iterator[str]:
        """Yield the notes of evaluators that a reader should see before any run."""
        for name, evaluators in self.evaluators.items():
            yield from filter(None, (note(evaluator, self.scenarios[name]) for evaluator in evaluators))

    def parts(self, scenario: str) -> tuple[str, ...]:
        """Return the digest of each evaluator of a scenario, sorted, since the written order has no meaning."""
        specs = self.scenarios[scenario].evaluators
        return tuple(sorted(map(part_digest, specs, map(source, self.evaluators[scenario]))))

    def _judges(self, scenario: str) -> str:
        """Return the evaluators as written, with the user's own code in them."""
        return digest_of([judged_by(self.scenarios[scenario]), *map(source, self.evaluators[scenario])])

    def judged(self, scenario: str, execution: Execution, known: KnownChecks = NONE_KNOWN) -> JudgedRun:
        """Return the checks of an execution; evaluators that ask models take a while.

        Evaluators whose checks are `known` are not asked.
        """
        if execution.ending.outcome is not None:
            return JudgedRun(execution.ending.outcome, (), execution.reason)
        judged = execution.trace.judged
        try:
            checks = judged.checks if judged else self._checks(scenario, execution, known)
        except NotJudgedError as error:
            return JudgedRun(Outcome.NOT_JUDGED, (), str(error))
        failed = next((check for check in checks if not check.passed), None)
        return JudgedRun(Outcome.FAIL if failed else Outcome.PASS, checks, failed.reason if failed else "")

    def _checks(self, scenario: str, execution: Execution, known: KnownChecks) -> tuple[Check, ...]:
        trace = self._priced(execution.trace)
        return judge(self.evaluators[scenario], self.scenarios[scenario], trace, known)

    def _priced(self, trace: AgentTrace) -> AgentTrace:
        if self.pricer is not None and trace.usd is None:
            return self.pricer.priced(trace)
        return trace


def part_digest(spec: EvaluatorSpec, written: str = "") -> str:
    """Return the digest of one evaluator and its code; comments and blanks in Python code make no difference."""
    try:
        code = ast.dump(ast.parse(written)) if written else ""
    except (SyntaxError, ValueError):
        code = written
    return digest_of([spec.model_dump(mode="json"), code])


def judged_by(scenario: Scenario) -> str:
    """Return the digest of a scenario's evaluators as written."""
    return digest_of([evaluator.model_dump(mode="json") for evaluator in scenario.evaluators])
