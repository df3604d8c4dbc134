"""Runs of Bedrock agents in which a call, the stream or the service fails."""

from collections.abc import Callable
from typing import Any

import pytest

from agentmut.nouns.execution import Ending
from agentmut.recording.trial import Trial
from agentmut.trial.classification import ending_of_error
from tests.frameworks import bedrock_service as service
from tests.frameworks.bedrock_runs import (
    call_of,
    deployed,
    ran,
)

pytestmark = pytest.mark.framework

pytest.importorskip("boto3", reason="boto3 is not installed")


@pytest.fixture
def at(loop_thread: Any) -> Any:
    """A service that follows a script, for a block."""
    return lambda script: service.served(loop_thread, script.answer)


def test_after_a_failed_call_the_model_is_asked_again(at: Callable[..., Any]) -> None:
    """With FAILURE, the service ends the session; the agent never hears of the error."""

    def fail(**_: Any) -> str:
        raise RuntimeError("no")

    script = service.Script(service.hand_back(call_of("look_up_order")), service.answer("Sorry."))
    with at(script):
        trace = ran(deployed(), "Where?", trial=Trial("t1", doubles={"look_up_order": fail}))
    [result] = script.bodies[1]["sessionState"]["returnControlInvocationResults"]
    assert result["functionResult"]["responseState"] == "REPROMPT"
    assert trace.tool_calls[0].error and "no" in trace.tool_calls[0].error
    assert "inputText" not in script.bodies[1]


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        (
            service.answer("All is well.")[:-4],
            "without an answer",
        ),  # botocore ends such a stream without a word
        (service.thought(3), "without an answer"),
        (service.broken("The model is overloaded."), "overloaded"),
        (service.failed("The function does not exist."), "does not exist"),
        (
            service.told(observation={"finalResponse": {"text": "All is well today."}})
            + service.answer("All is well"),
            "before its answer did",
        ),
        (
            service.hand_back(call_of("pay", actionInvocationType="USER_CONFIRMATION")),
            "confirm the call of 'pay'; with agent.options.confirm: true",
        ),
    ],
    ids=["cut off", "no answer", "error", "failure", "cut in the answer", "confirmation"],
)
def test_a_stream_without_an_answer_is_a_failure(at: Callable[..., Any], stream: bytes, said: str) -> None:
    trial = Trial("t1")
    with at(service.Script(stream)), pytest.raises(Exception, match=said):
        ran(deployed(), "Hello", trial=trial)
    [exchange] = trial.recorder.exchanges
    assert not exchange.answered and said in str(exchange.error)
    assert trial.recorder.waiting == []


def test_attempts_that_boto3_repeats_are_recorded(at: Callable[..., Any]) -> None:
    trial = Trial("t1")
    with at(service.Script(503, service.answer("Yes."))):
        ran(deployed(), "Hello", trial=trial)
    assert [exchange.status for exchange in trial.recorder.exchanges] == [503, 200]


def test_a_refusal_in_the_stream_is_one(at: Callable[..., Any]) -> None:
    """No trouble of the service, after which it would be asked again."""
    trial = Trial("t1")
    refusal = service.broken("Access denied when calling Bedrock.", "accessDenied")
    with at(service.Script(refusal)), pytest.raises(Exception, match="Access denied") as raised:
        ran(deployed(), "Hello", trial=trial)
    assert ending_of_error(raised.value, trial.recorder)[0] is Ending.REFUSED
