"""The evaluation of runs outside the event loop: an evaluator is foreign code that may never return."""

from agentmut._base import RunError
from agentmut.campaign.trials import Judged, Suite
from agentmut.nouns import Execution
from agentmut.recording import AgentExitError, DaemonWorker, OverdueError, in_daemon_thread, text_size

USUAL_SIZE = 100_000
"""Characters of a run's texts that are read within a millisecond or so."""


class Judging:
    """Evaluates one run at a time with a deadline; evaluators that ask models run side by side.

    Runs of a usual size are judged at once where the scenario's evaluators all declare that this takes no time.
    """

    def __init__(self, suite: Suite, seconds: float) -> None:
        self._suite = suite
        self._at_once = {name for name in suite.evaluators if suite.judges_at_once(name)}
        self._seconds = seconds
        self._worker = DaemonWorker()

    async def judge(self, scenario: str, execution: Execution) -> Judged:
        """Return the checks of a run. Raise `RunError` if an evaluator fails or takes too long."""
        if execution.ending.outcome is not None or execution.trace.judged:
            return self._suite.judged(scenario, execution)  # nobody has to be asked
        if scenario in self._at_once and text_size(execution.trace) <= USUAL_SIZE:
            return self._suite.judged(scenario, execution)
        try:
            if self._suite.asks_models(scenario):  # with deadlines of their own
                judged: Judged = await in_daemon_thread(self._suite.judged, scenario, execution)
                return judged
            return await self._worker.call(self._suite.judged, scenario, execution, seconds=self._seconds)
        except OverdueError as error:
            raise RunError(self._overdue(scenario, str(error))) from None
        except AgentExitError as error:
            raise RunError(f"an evaluator of scenario {scenario!r} ended with {error}") from error

    def close(self) -> None:
        """Let the thread of the evaluators end."""
        self._worker.close()

    def _overdue(self, scenario: str, place: str) -> str:
        return (
            f"the evaluators of scenario {scenario!r} took more than {self._seconds:g} s on one run; they are at "
            f"{place or 'an unknown place'}. Make them faster, or raise execution.evaluator_timeout. "
            "Finished trials are kept."
        )
