"""Judges timeouts by what the campaign knows of the service's pace: more than one run can know."""

from contextlib import AbstractAsyncContextManager

from agentmut.nouns import Ending, Execution
from agentmut.trial.classification import ending_of_timeout
from agentmut.trial.executor import Executor, TrialRequest
from agentmut.trial.pace import Pace, not_its_own


class PacedExecutor:
    """Runs trials by another executor. Where one was cut off, `pace` says whether that is its agent's."""

    def __init__(self, inner: Executor, pace: Pace) -> None:
        self._inner = inner
        self._pace = pace

    def session(self) -> AbstractAsyncContextManager[None]:
        """Return the inner executor's session."""
        return self._inner.session()

    async def execute(self, request: TrialRequest) -> Execution:
        """Run one trial, once."""
        execution = await self._inner.execute(request)
        judged = by_pace(execution, self._pace.usual(request.scenario))
        if judged.trace.service and judged.ending.is_evidence:
            self._pace.learn(request.scenario, judged.trace.service)
        return judged


def by_pace(execution: Execution, usual: float | None) -> Execution:
    """Return the execution with the ending that a timeout has where a wait usually takes `usual` seconds."""
    spent = execution.trace.service
    if spent is None or not spent.cut:
        return execution
    ending, reason = ending_of_timeout(spent, usual)
    return execution.model_copy(update={"ending": ending, "reason": reason})


def is_own_timeout(execution: Execution, usual: float | None) -> bool:
    """Return whether a stored timeout is the agent's, by what is known now; False where it does not tell
    how it waited.
    """
    if execution.ending is not Ending.TIMEOUT:
        return True
    spent = execution.trace.service
    return spent is not None and not not_its_own(spent, usual)
