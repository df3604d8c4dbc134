"""The in-process carrier for boto3, against a service on loopback that speaks Converse."""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from agentmut.nouns.cassette import Player
from agentmut.recording.current import TrialOverError, running
from agentmut.recording.recorder import Recorder
from agentmut.recording.trial import Trial
from agentmut.wire.carriers.botocore_hooks import BotocoreHooks
from agentmut.wire.codecs import all_codecs

boto3 = importlib.import_module("boto3")
ASKED: dict[str, Any] = {
    "modelId": "eu.sim:0",
    "system": [{"text": "Help."}],
    "messages": [{"role": "user", "content": [{"text": "Hi"}]}],
    "toolConfig": {"tools": [{"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}}]},
}


def client(polyglot: Any, retries: int = 1) -> Any:
    config = importlib.import_module("botocore.config").Config(retries={"total_max_attempts": retries})
    return boto3.client(
        "bedrock-runtime",
        region_name="eu-west-1",
        endpoint_url=polyglot.origin,
        aws_access_key_id="AKIDPLANTED",
        aws_secret_access_key="s",
        config=config,
    )


def hooks() -> Any:
    return BotocoreHooks(all_codecs()).installed()


def called(bedrock: Any, *, stream: bool) -> list[str]:
    """Names of the tools that a reply calls."""
    if not stream:
        content = bedrock.converse(**ASKED)["output"]["message"]["content"]
        return [block["toolUse"]["name"] for block in content if "toolUse" in block]
    starts = [event.get("contentBlockStart") for event in bedrock.converse_stream(**ASKED)["stream"]]
    return [start["start"]["toolUse"]["name"] for start in starts if start and "toolUse" in start["start"]]


@pytest.mark.parametrize("early", [True, False], ids=["client made before", "client made within"])
@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_a_bedrock_agent_becomes_the_mutant_before_its_requests_are_signed(
    stream: bool, early: bool, polyglot: Any, mutant: Any
) -> None:
    polyglot.calls = ("peek",)
    bedrock = client(polyglot) if early else None
    with hooks(), running(Trial("t1", rewriter=mutant())) as trial:
        assert called(bedrock or client(polyglot), stream=stream) == ["look"]
    (seen,) = polyglot.requests
    assert (seen.model, seen.system_text, seen.tools[0].name) == ("eu.sim:0", "Help. Be brief.", "peek")
    assert polyglot.headers[0]["authorization"].startswith("AWS4-HMAC-SHA256")
    assert polyglot.headers[0]["x-agentmut-trial"] == "t1"
    assert polyglot.headers[0]["content-length"] == str(len(polyglot.bodies[0]))
    (exchange,) = trial.recorder.exchanges
    assert exchange.reply is not None
    assert (exchange.status, exchange.reply.tool_calls[0].name) == (200, "look")
    assert (exchange.reply.usage.total, trial.recorder.waiting) == (10, [])


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_a_decoys_call_is_answered_in_a_round_of_its_own(stream: bool, polyglot: Any, mutant: Any) -> None:
    polyglot.calls = ("decoy", "peek")
    with hooks(), running(Trial("t1", rewriter=mutant(decoy=True))) as trial:
        assert called(client(polyglot), stream=stream) == ["look"]
    calls = [e.reply.tool_calls[0].name for e in trial.recorder.exchanges if e.reply]
    assert calls == ["decoy", "look"]
    assert len({headers["authorization"] for headers in polyglot.headers}) == 2  # each is signed


def test_each_attempt_of_a_retried_call_is_recorded(polyglot: Any) -> None:
    waiting = [503]

    async def once(http: web.Request) -> web.Response | None:
        return web.Response(status=waiting.pop()) if waiting else None

    polyglot.trouble = once
    with hooks(), running(Trial("t1")) as trial:
        client(polyglot, retries=2).converse(**ASKED)
    assert [exchange.status for exchange in trial.recorder.exchanges] == [503, 200]


def test_a_service_that_is_not_there_is_recorded(polyglot: Any) -> None:
    polyglot.origin = "http://127.0.0.1:9"
    error = importlib.import_module("botocore.exceptions").EndpointConnectionError
    with hooks(), running(Trial("t1")) as trial, pytest.raises(error):
        client(polyglot).converse(**ASKED)
    (exchange,) = trial.recorder.exchanges
    assert (exchange.status, exchange.answered) == (None, False)


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_a_trial_is_replayed_without_the_service(stream: bool, polyglot: Any) -> None:
    polyglot.calls = ("look",)
    with hooks(), running(Trial("t1", recorder=Recorder(takes=[]))) as trial:
        said = called(client(polyglot), stream=stream)
    assert trial.recorder.takes and len(polyglot.requests) == 1
    with hooks(), running(Trial("t1", player=Player(trial.recorder.takes))) as again:
        assert called(client(polyglot), stream=stream) == said == ["look"]
    assert len(polyglot.requests) == 1
    assert [exchange.status for exchange in again.recorder.exchanges] == [200]


def test_outside_of_trials_and_after_them_nothing_is_carried(polyglot: Any) -> None:
    base = importlib.import_module("botocore.client").BaseClient
    before = base._make_request
    with hooks():
        client(polyglot).converse(**ASKED)
        with running(Trial("t1")) as trial:
            pass
        from agentmut.recording.current import _current

        token = _current.set(trial)
        try:
            with pytest.raises(TrialOverError):
                client(polyglot).converse(**ASKED)
        finally:
            _current.reset(token)
    assert base._make_request is before
    assert "x-agentmut-trial" not in polyglot.headers[0]


@pytest.mark.process
def test_botocore_is_hooked_when_the_agent_imports_it_and_not_before(tmp_path: Path) -> None:
    code = """
import sys
from agentmut.wire.carriers.botocore_hooks import BotocoreHooks
from agentmut.wire.codecs import all_codecs
with BotocoreHooks(all_codecs()).installed():
    assert not any(name.startswith("botocore") for name in sys.modules)
    import botocore.client
    assert botocore.client.BaseClient._make_request.__wrapped__
    assert botocore.client.__spec__.loader is botocore.client.__loader__
assert not hasattr(botocore.client.BaseClient._make_request, "__wrapped__")
assert not any("agentmut.wire" in type(finder).__module__ for finder in sys.meta_path)
"""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
