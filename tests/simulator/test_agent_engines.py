"""The simulator plays agent engines: sessions, documents in messages, and the words of its refusals."""

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from agentmut.nouns.codec import HttpCall
from agentmut.nouns.messages import ModelReply, ModelRequest
from agentmut.simulator.service.background import Simulator
from agentmut.simulator.service.engines import AgentEngines

NAME = "/v1/projects/p/locations/l/reasoningEngines/sim-large"
DOCUMENT = '<document name="rules">\nA lamp burns 9 hours.\n</document>'


def say(request: ModelRequest) -> ModelReply:
    return ModelReply(model=request.model, text=f"{len(request.messages)}, {request.system_text}")


def asked(engines: AgentEngines, method: str, kept: bool = True, **told: Any) -> Any:
    body = json.dumps({"classMethod": method, "input": told}).encode()
    verb = "streamQuery?alt=sse" if "stream" in method else "query"
    [found] = engines.answer(HttpCall(f"{NAME}:{verb}", body), say, kept=kept).chunks
    return json.loads(found)


def test_a_session_holds_documents_and_what_was_said_until_it_is_deleted() -> None:
    engines = AgentEngines(most=1)
    assert engines.matches(f"{NAME}:query") and not engines.matches(f"{NAME}:delete")
    session = asked(engines, "async_create_session", user_id="u")["output"]["id"]
    for kept, said in ((True, "2"), (False, "4"), (True, "4")):
        text = f"{DOCUMENT}\n\nHow long?" if said == "2" else "And then?"
        event = asked(engines, "async_stream_query", kept, session_id=session, message=text)
        assert event["content"]["parts"] == [{"text": f"{said}, {DOCUMENT}"}]
    assert asked(engines, "query", input="Alone?")["output"] == "2, "
    asked(engines, "async_delete_session", session_id=session)
    for gone in (session, asked(engines, "async_create_session")["output"]["id"]):
        asked(engines, "async_create_session")  # one more than is kept
        with pytest.raises(ValueError, match="there is no session"):
            asked(engines, "async_stream_query", session_id=gone, message="Hi")
    with pytest.raises(ValueError, match="Available methods are"):
        asked(engines, "stream_query")


def test_an_engine_of_an_unknown_model_is_refused_in_google_s_words() -> None:
    with Simulator() as simulator:
        url = f"{simulator.environment['GOOGLE_VERTEX_BASE_URL']}{NAME}x:query"
        body = json.dumps({"input": {"input": "Hi"}}).encode()
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(url, body)
        assert json.load(refused.value)["error"]["status"] == "NOT_FOUND"
        assert [received.dialect for received in simulator.requests] == ["agent_engines"]
