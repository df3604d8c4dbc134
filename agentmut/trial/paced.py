"""The judgement of timeouts by the service's pace, which a campaign knows better than one run."""

from contextlib import AbstractAsyncContextManager

from agentmut.nouns import Ending, Execution
from agentmut.trial.classification import ending_of_timeout
from agentmut.trial.executor import Executor, TrialRequest
from agentmut.trial.pace import Pace, not_its_own


class PacedExecutor:
    """Runs trials by another executor. After a timeout, `pace` decides whether the agent caused it."""

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
    """Return whether the agent caused a stored timeout, as known now; False without a record of its waits."""
    if execution.ending is not Ending.TIMEOUT:
        return True
    spent = execution.trace.service
    return spent is not None and not not_its_own(spent, usual)
