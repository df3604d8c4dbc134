"""The evaluation of runs outside the event loop: an evaluator is foreign code that may never return."""

import asyncio
from contextlib import suppress

from agentmut._base import EvaluatorError, NotJudgedError
from agentmut.campaign.trials import JudgedRun, Suite
from agentmut.judging import NONE_KNOWN, KnownChecks
from agentmut.nouns import Execution, Outcome
from agentmut.recording import (
    AgentExitError,
    DaemonWorker,
    ForkedWorker,
    ForkedWorkerEndedError,
    OverdueError,
    UnpicklableError,
    in_daemon_thread,
)

PASSES_HERE = (
    "in the agent's own process the same evaluator passes this run, so it reads what the agent leaves in a variable: "
    "set `execution: {isolate_evaluators: thread}`"
)
"""What is said once of a scenario whose evaluators of the user fail apart and pass beside the agent."""
USUAL_SIZE = 100_000
"""Characters of a run's texts that are read within a millisecond or so."""


class Judging:
    """Evaluates one run at a time with a deadline; evaluators that ask models run side by side.

    With `apart`, evaluators that run code of users are asked in a forked copy of this process: there alone a call can
    be ended that lets Python run nothing else. Runs of a usual size are judged at once where the scenario's other
    evaluators all declare that this takes no time.
    """

    def __init__(self, suite: Suite, seconds: float, *, apart: bool = False) -> None:
        self._suite = suite
        users = {name for name in suite.evaluators if suite.runs_users_code(name)}
        self._process = self._forked(seconds) if users and apart else None
        self._apart = users if self._process else {name for name in users if suite.asks_models(name)}
        """Scenarios whose evaluators that run code of users are asked apart from the others, with the deadline."""
        self._at_once = {
            name for name in suite.evaluators if suite.judges_at_once(name, apart=self._process is not None)
        }
        self._seconds = seconds
        self._worker = DaemonWorker()
        self._here: dict[str, asyncio.Future[bool]] = {}
        """Whether the first run of a scenario that failed apart passes in this process."""

    def _forked(self, seconds: float) -> ForkedWorker | None:
        with suppress(OSError):  # no room for another process: the thread does it
            return ForkedWorker(self._suite.checks_of_users, seconds)
        return None

    async def judge(self, scenario: str, execution: Execution) -> JudgedRun:
        """Return the checks of a run. Raise `EvaluatorError` if an evaluator fails or takes too long."""
        if execution.ending.outcome is not None or execution.trace.judged:
            return self._suite.judged(scenario, execution)  # nobody has to be asked
        try:
            if scenario not in self._apart and self._is_at_once(scenario, execution):
                return self._suite.judged(scenario, execution)
            known = await self._checks_of_users(scenario, execution)
            judged = await self._judged(scenario, execution, known)
            if await self._passes_here(scenario, execution, known):
                return judged._replace(reason=f"{judged.reason.rstrip('. ')}; {PASSES_HERE}")
            return judged
        except NotJudgedError as error:
            return JudgedRun(Outcome.NOT_JUDGED, (), str(error))
        except OverdueError as error:
            raise _in_own_words(self._overdue(scenario, str(error))) from None
        except AgentExitError as error:
            who = f"an evaluator of scenario {scenario!r} ended with"
            raise EvaluatorError(f"{who} {error}", f"{who} {error.bare}") from error
        except RecursionError as error:  # from beyond what catches errors of evaluators
            fault = f"an evaluator of scenario {scenario!r} calls too deep, or has lowered the recursion limit: {error}"
            raise _in_own_words(f"{fault}. Fix the evaluator. Finished trials are kept.") from error
        except ForkedWorkerEndedError as error:
            fault = f"an evaluator of scenario {scenario!r} ended {error}. Fix the evaluator. Finished trials are kept."
            raise _in_own_words(fault) from error

    async def _checks_of_users(self, scenario: str, execution: Execution) -> KnownChecks:
        """Return what evaluators say that are asked apart from the others; nothing if all are asked together."""
        asked, checks = (scenario, execution.trace), NONE_KNOWN
        if scenario in self._apart and self._process is not None:
            with suppress(UnpicklableError):
                checks = await self._process.call(*asked)
        if scenario in self._apart and not checks:
            checks = await self._worker.call(self._suite.checks_of_users, *asked, seconds=self._seconds)
        return checks

    async def _passes_here(self, scenario: str, execution: Execution, known: KnownChecks) -> bool:
        """Return whether a run fails in the forked copy, and the scenario's first such run passes in this process."""
        failed = any(not check.passed for checks in known.values() for check in checks)
        if self._process is None or not failed:
            return False
        # runs that end meanwhile wait for it, since any of them may be told of first
        if scenario not in self._here:
            self._here[scenario] = asyncio.ensure_future(self._holds_here(scenario, execution))
        return await asyncio.shield(self._here[scenario])

    async def _holds_here(self, scenario: str, execution: Execution) -> bool:
        asked = (self._suite.checks_of_users, scenario, execution.trace)
        try:
            here = await self._worker.call(*asked, seconds=self._seconds)
        except Exception:  # then the copy's judgement is all there is to say
            return False
        return all(check.passed for checks in here.values() for check in checks)

    async def _judged(self, scenario: str, execution: Execution, known: KnownChecks) -> JudgedRun:
        arguments = (scenario, execution, known)
        if self._is_at_once(scenario, execution):
            return self._suite.judged(*arguments)
        if self._suite.asks_models(scenario):  # with deadlines of their own
            judged: JudgedRun = await in_daemon_thread(self._suite.judged, *arguments)
            return judged
        return await self._worker.call(self._suite.judged, *arguments, seconds=self._seconds)

    def _is_at_once(self, scenario: str, execution: Execution) -> bool:
        """Return whether judging a run takes about as long as reading it."""
        return scenario in self._at_once and execution.trace.characters <= USUAL_SIZE

    def close(self) -> None:
        """Let the thread of the evaluators end, and end their process."""
        self._worker.close()
        if self._process is not None:
            self._process.close()

    def _overdue(self, scenario: str, place: str) -> str:
        return (
            f"the evaluators of scenario {scenario!r} took more than {self._seconds:g} s on one run; they are at "
            f"{place or 'an unknown place'}. Make them faster, or raise execution.evaluator_timeout. "
            "Finished trials are kept."
        )


def _in_own_words(text: str) -> EvaluatorError:
    """Return an error that quotes nothing of the run, so that it is told where no texts are kept, too."""
    return EvaluatorError(text, text)
