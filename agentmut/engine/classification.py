"""How a run ended, read off its answer or error and the model requests seen; blind to which mutant ran."""

from agentmut.execution import Ending
from agentmut.trace import AgentTrace
from agentmut.trial import Recorder
from agentmut.wire.messages import Exchange

RETRYABLE_STATUS = frozenset({408, 409, 425, 429})
CONNECTION_ERRORS = frozenset(
    {"APIConnectionError", "APITimeoutError", "ConnectError", "ReadError", "ConnectTimeout"}
)


def ending_of_answer(trace: AgentTrace, recorder: Recorder) -> tuple[Ending, str]:
    """The ending of a run that returned `trace`.

    A model request that failed for good makes the run no evidence, whatever the agent answered then:
    looking at the answer first would let trouble count on one side only.
    """
    if failed := _unrecovered(recorder):
        return Ending.INFRASTRUCTURE, _describe(failed)
    if trace.text.strip():
        return Ending.ANSWERED, ""
    if recorder.active:
        return Ending.EMPTY_ANSWER, "the agent answered nothing"
    if trace.output is None:
        return Ending.EMPTY_RUN, "the agent did nothing and returned nothing"
    return Ending.EMPTY_ANSWER, "the agent returned an empty answer"


def ending_of_error(error: BaseException, recorder: Recorder) -> tuple[Ending, str]:
    """The ending of a run that raised `error`."""
    said = f"{type(error).__name__}: {error}"
    last = recorder.exchanges[-1] if recorder.exchanges else None
    if last is not None and not last.answered:
        return (Ending.INFRASTRUCTURE if _is_infrastructure(last.status) else Ending.REFUSED), said
    for cause in _chain(error):
        status = getattr(cause, "status_code", None)
        if isinstance(status, int) and status >= 400:
            return (Ending.INFRASTRUCTURE if _is_infrastructure(status) else Ending.REFUSED), said
        if isinstance(cause, ConnectionError) or type(cause).__name__ in CONNECTION_ERRORS:
            return Ending.INFRASTRUCTURE, said
    return Ending.RAISED, said


def ending_of_timeout(timeout: float, recorder: Recorder) -> tuple[Ending, str]:
    """The ending of a run that was cut off: a failure, unless all it did was wait for the model service."""
    said = f"no answer within {timeout:g} s"
    if recorder.active or not (recorder.pending_requests or recorder.exchanges):
        return Ending.TIMEOUT, said
    return Ending.INFRASTRUCTURE, f"{said}: the model service did not reply"


def _unrecovered(recorder: Recorder) -> Exchange | None:
    last = recorder.exchanges[-1] if recorder.exchanges else None
    return last if last and not last.answered and _is_infrastructure(last.status) else None


def _is_infrastructure(status: int | None) -> bool:
    return status is None or status >= 500 or status in RETRYABLE_STATUS


def _describe(exchange: Exchange) -> str:
    return exchange.error or f"the model service answered {exchange.status}"


def _chain(error: BaseException | None) -> list[BaseException]:
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ or error.__context__
    return chain
