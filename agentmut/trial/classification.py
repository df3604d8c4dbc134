"""How a run ended, from its answer or error and the observed model requests; the mutant plays no part."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress

from agentmut._base import CaseError, UnavailableError, described, own_place
from agentmut.nouns import Action, AgentTrace, Ending, Exchange, ServiceTime, is_trouble
from agentmut.recording import Recorder
from agentmut.trial.pace import not_its_own

MODEL_CONNECTION_ERRORS = frozenset({"APIConnectionError"})  # openai, anthropic; their timeouts too
"""Class names, of the exception or of one of its bases: only clients of models raise them."""
CONNECTION_ERRORS = frozenset(
    {
        "ConnectionError",  # Python, requests, botocore
        "TimeoutException",  # httpx, as the next two
        "NetworkError",
        "RemoteProtocolError",
        "ClientConnectionError",  # aiohttp
    }
)
"""Class names of what any client raises: that of a model service, or one behind a tool."""


def ending_of_answer(trace: AgentTrace, recorder: Recorder) -> tuple[Ending, str]:
    """Return the ending of a run that returned `trace`.

    A model request that failed for good makes the run no evidence, whatever the agent answered then:
    looking at the answer first would let trouble count on one side only. The same holds where the last
    thing that the agent heard was that its request is invalid.
    """
    if recorder.exchanges and (failed := _unrecovered(recorder.exchanges)):
        return Ending.INFRASTRUCTURE, _describe(failed)
    if recorder.exchanges and not recorder.exchanges[-1].answered:
        return Ending.REFUSED, _describe(recorder.exchanges[-1])
    if trace.text.strip() or trace.checks:
        return Ending.ANSWERED, ""
    if recorder.active:
        return Ending.EMPTY_ANSWER, "the agent answered nothing"
    if trace.output is None:
        return Ending.EMPTY_RUN, "the agent did nothing and returned nothing"
    return Ending.EMPTY_ANSWER, "the agent returned an empty answer"


def ending_of_error(error: BaseException, recorder: Recorder) -> tuple[Ending, str]:
    """Return the ending of a run that raised `error`, with the address that failed, or the line that raised."""
    said, causes = described(error), list(_causes(error))
    unreached = f"{said}{_address(said, causes)}"
    exchanges = recorder.exchanges if _waited(causes) else [e for e in recorder.exchanges if not e.given_up]
    if isinstance(error, UnavailableError) or _unrecovered(exchanges):
        return Ending.INFRASTRUCTURE, unreached
    if exchanges and not exchanges[-1].answered:
        return Ending.REFUSED, said
    if any(_is_trouble_of_model(cause) for cause in causes):
        return Ending.INFRASTRUCTURE, unreached
    if any(_is_trouble(cause) for cause in causes) and not _is_own(causes, recorder):
        return Ending.INFRASTRUCTURE, unreached
    if not recorder.exchanges and any(_is_refusal(cause) for cause in causes):
        return Ending.REFUSED, said
    place = own_place(error)
    told = f"{said.rstrip('. ')} ({place})" if place else said
    return (Ending.CASE_ERROR if isinstance(error, CaseError) else Ending.RAISED), told


def ending_of_timeout(spent: ServiceTime, usual: float | None = None) -> tuple[Ending, str]:
    """Return the ending of a run that was cut off: a failure, unless the model service took the time; see
    `not_its_own`.
    """
    said = f"no answer within {spent.cut:g} s"
    if why := not_its_own(spent, usual):
        return Ending.INFRASTRUCTURE, f"{said}: {why}"
    return Ending.TIMEOUT, said


def _address(text: str, causes: Sequence[BaseException]) -> str:
    """Return the address of the request that an HTTP client lost, without its query; empty if unknown or told."""
    for cause in causes:
        with suppress(Exception):  # httpx raises where an exception has no request
            address = str(cause.request.url).partition("?")[0]  # type: ignore[attr-defined]  # httpx's errors have one
            return f" (no answer from {address})" if address and address not in text else ""
    return ""


def _unrecovered(exchanges: Sequence[Exchange]) -> Exchange | None:
    """Return a request that met trouble and had no answer when it was repeated."""
    failed = (e for e in exchanges if e.in_trouble)
    answered = [e.request for e in exchanges if e.answered]
    return next((exchange for exchange in failed if exchange.request not in answered), None)


def _waited(causes: Sequence[BaseException]) -> bool:
    """Return whether the agent lost its patience: only then is a request that it cancelled the service's trouble.

    Otherwise the agent failed first, and its framework cancelled the requests of the other branches.
    """
    return any(isinstance(cause, TimeoutError | asyncio.CancelledError) for cause in causes)


def _is_own(causes: Sequence[BaseException], recorder: Recorder) -> bool:
    """Return whether lost connections belong to the agent's own tools and nodes, since model calls are observed.

    Calls of models are told by the framework's steps, or else by the requests seen, whose replies must have been
    read to the end. Where neither tells of any, the exception may be the model service's, unless a tool raised it.
    """
    told = {described(cause) for cause in causes}
    raised = {step.action for step in recorder.steps if step.error in told}
    if recorder.waiting or Action.REASON in raised:
        return False
    if Action.CALL_TOOL in raised or any(step.action is Action.REASON for step in recorder.steps):
        return True
    if recorder.exchanges:
        return all(exchange.reply is not None for exchange in recorder.exchanges if exchange.answered)
    return bool(recorder.nodes)  # who tells of nodes would have told of a model's failure in one


def _is_trouble_of_model(cause: BaseException) -> bool:
    """Return whether an SDK for models raised the error: such an exception carries an HTTP status."""
    status = getattr(cause, "status_code", None)
    if isinstance(status, int) and status >= 400 and hasattr(cause, "response"):
        return is_trouble(status)
    return _is_a(cause, MODEL_CONNECTION_ERRORS)


def _is_trouble(cause: BaseException) -> bool:
    """Return whether the exception alone shows trouble of a service or the network.

    By its class's name and its status: clients differ in everything else."""
    status = _status(cause)
    return _is_a(cause, CONNECTION_ERRORS) if status is None else is_trouble(status)


def _is_a(cause: BaseException, names: frozenset[str]) -> bool:
    return any(base.__name__ in names for base in type(cause).__mro__)


def _is_refusal(cause: BaseException) -> bool:
    """Return whether an SDK raised this for a request that the service refused; HTTP errors of tools look different."""
    status = getattr(cause, "status_code", None)
    return isinstance(status, int) and status >= 400 and hasattr(cause, "response")


def _status(cause: BaseException) -> int | None:
    """Return the HTTP status that an exception of an SDK, httpx or requests carries."""
    response = getattr(cause, "response", None)
    status = getattr(response, "status_code", None)
    return status if isinstance(status, int) and status >= 400 else None


def _describe(exchange: Exchange) -> str:
    return exchange.error or f"the model service answered {exchange.status}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception, its causes, and the members of a group; each once."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        cause = waiting.pop()
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        grouped = cause.exceptions if isinstance(cause, BaseExceptionGroup) else ()
        waiting += [cause.__cause__ or cause.__context__, *grouped]
