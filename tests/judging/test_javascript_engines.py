"""JavaScript conditions are judged alike by mini-racer and by node, and say what to install where there is neither."""

import asyncio
import shutil
import sys
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.judging.building import build
from agentmut.judging.evaluators.javascript_engines import NodeEngine, ScriptError
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import AgentTrace

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
CONDITION = "output.meta.exitCode === 0 && output.parsed.ok"


@pytest.fixture
def without_mini_racer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py_mini_racer", None)


def passes(condition: str, answer: str) -> bool:
    spec = EvaluatorSpec(name="javascript", argument=condition)
    scenario = Scenario(name="s", turns=("hello",), evaluators=(spec,))
    return build(spec).evaluate(scenario, AgentTrace(outputs=(answer,))).passed


@pytest.mark.usefixtures("without_mini_racer")
def test_one_line_says_what_to_install_where_neither_engine_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError) as error:
        passes(CONDITION, "{}")
    assert str(error.value).splitlines() == [
        "evaluator 'javascript': needs mini-racer or node, and neither is installed here. Run: "
        "pip install 'agentmut[cerberus]'"
    ]


def test_mini_racer_judges_where_it_was_made_beside_a_running_event_loop() -> None:
    pytest.importorskip("py_mini_racer")

    async def both() -> tuple[bool, bool]:
        return passes(CONDITION, '{"ok": true}'), passes(CONDITION, '{"ok": 0}')

    assert asyncio.run(both()) == (True, False)


@needs_node
@pytest.mark.process
@pytest.mark.usefixtures("without_mini_racer")
def test_node_judges_where_mini_racer_is_missing() -> None:
    assert passes(CONDITION, '{"ok": true}')
    assert not passes(CONDITION, '{"ok": 0}')
    assert not passes(CONDITION, "no JSON")
    with pytest.raises(UsageError, match=r"expects a condition in JavaScript: SyntaxError"):
        passes("output.meta.(", "{}")


@needs_node
@pytest.mark.process
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("missing.field", "ReferenceError: missing is not defined"),
        ("while (true) {}", "timed out"),
        ("process.exit(0)", "ReferenceError: process is not defined"),
        ("throw 'words'", "words"),
    ],
)
def test_what_a_script_raises_in_node_is_told(script: str, said: str) -> None:
    engine: Any = NodeEngine(str(NODE))
    with pytest.raises(ScriptError, match=said):
        engine.is_true(script)
