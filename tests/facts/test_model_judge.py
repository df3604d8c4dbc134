"""The model judge, through the real SDKs on services that speak the real wire formats."""

import json
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from aiohttp import web

from agentmut.errors import RunError
from agentmut.facts.comparison import Comparison
from agentmut.facts.judge import Judge
from agentmut.scenario import EvaluatorSpec, Scenario
from agentmut.trace import AgentTrace

pytest.importorskip("openai")
pytestmark = pytest.mark.skipif(
    not find_spec("anthropic"), reason="anthropic is not installed"
)  # slow to import

SCENARIO = Scenario(name="one", turns=("hello",), evaluators=(EvaluatorSpec(name="contains", argument="a"),))
YES, NO = AgentTrace(outputs=("Yes, of course.",)), AgentTrace(outputs=("No, sorry.",))


class Stand:
    """Both services; `verdict` is what the model says, or an HTTP status."""

    def __init__(self) -> None:
        self.verdict: Any = {"same": False, "difference": "one agrees, the other refuses"}
        self.asked: list[dict[str, Any]] = []

    async def openai(self, http: web.Request) -> web.Response:
        self.asked.append(await http.json())
        if isinstance(self.verdict, int):
            return web.json_response({"error": {"message": "no such model"}}, status=self.verdict)
        content = self.verdict if isinstance(self.verdict, str) else json.dumps(self.verdict)
        return web.json_response({
            "id": "c1", "object": "chat.completion", "created": 0, "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
            "usage": {"prompt_tokens": 30, "completion_tokens": 9, "total_tokens": 39},
        })  # fmt: skip

    async def anthropic(self, http: web.Request) -> web.Response:
        self.asked.append(await http.json())
        block = {"type": "tool_use", "id": "t1", "name": "report", "input": self.verdict}
        return web.json_response({
            "id": "m1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
            "stop_sequence": None, "content": [block], "usage": {"input_tokens": 40, "output_tokens": 8},
        })  # fmt: skip


@pytest.fixture
def stand(loop_thread: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stand]:
    found = Stand()

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", found.openai)
        app.router.add_post("/v1/messages", found.anthropic)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    runner = loop_thread.run(start())
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    for name, value in {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "k", "ANTHROPIC_BASE_URL": url,
                        "ANTHROPIC_API_KEY": "k"}.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    yield found
    loop_thread.run(runner.cleanup())


@pytest.mark.parametrize(("model", "tokens"), [("openai:m", 39), ("anthropic:m", 48)])
def test_a_judge_says_what_differs_at_temperature_0_and_is_asked_once_a_pair(
    stand: Stand, model: str, tokens: int
) -> None:
    judge = Judge({"model": model, "instruction": "Tone matters too."})
    assert judge.difference(SCENARIO, YES, NO) == "judge m: one agrees, the other refuses"
    assert judge.difference(SCENARIO, NO, YES) != "" and judge.difference(SCENARIO, YES, YES) == ""
    (asked,) = stand.asked
    assert asked["temperature"] == 0 and "Tone matters too." in json.dumps(asked)
    assert judge.usage.total == Comparison((judge,)).usage.total == tokens


@pytest.mark.parametrize("model", ["openai:m", "anthropic:m"])
def test_answers_that_the_judge_calls_the_same_do_not_differ(stand: Stand, model: str) -> None:
    stand.verdict = {"same": True, "difference": ""}
    assert Judge({"model": model}).difference(SCENARIO, YES, NO) == ""


@pytest.mark.parametrize("verdict", ["I think so", 404, {"difference": "none"}])
def test_a_judge_that_fails_says_nothing_about_the_agent(stand: Stand, verdict: Any) -> None:
    stand.verdict = verdict
    with pytest.raises(RunError, match="the judge m"):
        Judge({"model": "openai:m"}).difference(SCENARIO, YES, NO)


def test_a_judge_without_its_sdk_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(RunError, match=r"pip install 'agentmut\[anthropic\]'"):
        Judge({"model": "anthropic:m"}).difference(SCENARIO, YES, NO)
