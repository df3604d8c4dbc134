"""A tool loop around the simulator, in process: what an agent framework does, without one."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.messages import Message, ModelRequest, Role
from agentmut.nouns.tools import ToolSpec, read_tool
from agentmut.simulator.mind.behave import reply

MAX_REPLIES = 12
TESTDATA = Path(__file__).parent.parent / "testdata"


class Talk(NamedTuple):
    """What came of a conversation."""

    text: str
    calls: tuple[tuple[str, dict[str, Any]], ...]

    @property
    def tools(self) -> list[str]:
        return [name for name, _ in self.calls]


def converse(
    prompt: str,
    *turns: str,
    tools: Sequence[ToolSpec] = (),
    results: Mapping[str, Any] | None = None,
    model: str = "sim-large",
    trial: str = "t",
    seed: int = 0,
) -> Talk:
    messages = [Message(role=Role.SYSTEM, text=prompt)]
    calls: list[tuple[str, dict[str, Any]]] = []
    for turn in turns:
        messages.append(Message(role=Role.USER, text=turn))
        for _ in range(MAX_REPLIES):
            request = ModelRequest(model=model, messages=tuple(messages), tools=tuple(tools))
            answer = reply(request, seed=seed, trial=trial)
            messages.append(Message(role=Role.ASSISTANT, text=answer.text, tool_calls=answer.tool_calls))
            for call in answer.tool_calls:
                calls.append((call.name, json.loads(call.arguments)))
                result = (results or {}).get(call.name, {"ok": True})
                said = result if isinstance(result, str) else json.dumps(result)
                messages.append(Message(role=Role.TOOL, text=said, tool_call_id=call.id))
            if not answer.tool_calls:
                break
        else:
            raise AssertionError(f"the model does not come to an end: {calls}")
    return Talk(messages[-1].text, tuple(calls))


def share_of_trials(passes: Callable[[str], bool], trials: int) -> float:
    return sum(passes(f"trial {number}") for number in range(trials)) / trials


class Desk(NamedTuple):
    """A domain: an agent, what its tools answer, and by name what a user asks and how the agent should act."""

    config: AgentConfig
    results: Mapping[str, Any]
    behaviours: Mapping[str, tuple[str, Callable[[Talk], bool]]]

    def rates(self, trials: int, model: str = "sim-large") -> dict[str, float]:
        def rate(asked: str, behaves: Callable[[Talk], bool]) -> float:
            return share_of_trials(lambda trial: behaves(self.talk(asked, model, trial)), trials)

        return {name: rate(*behaviour) for name, behaviour in self.behaviours.items()}

    def talk(self, asked: str, model: str, trial: str) -> Talk:
        prompt, tools = self.config.system_text(), self.config.tools
        return converse(prompt, asked, tools=tools, results=self.results, model=model, trial=trial)

    def broken(self, how: str, what: Any) -> "Desk":
        return self._replace(config=self.config.model_copy(update=BREAKAGES[how](self.config, what)))


def without_rule(config: AgentConfig, words: str) -> dict[str, Any]:
    """The whole line of the list goes, however many sentences it has."""
    lines = config.prompt.splitlines(keepends=True)
    (rule,) = (line for line in lines if words in line)
    return {"prompt": "".join(line for line in lines if line is not rule)}


def without_tool(config: AgentConfig, name: str) -> dict[str, Any]:
    assert name in config.tool_names
    return {"tools": tuple(tool for tool in config.tools if tool.name != name)}


def truncated(config: AgentConfig, name: str) -> dict[str, Any]:
    """The document ends after 100 characters."""
    assert name in {document.name for document in config.context}
    short = {document.name: document.text[:100] for document in config.context if document.name == name}
    return {"context": tuple(Document(name=d.name, text=short.get(d.name, d.text)) for d in config.context)}


def reworded(config: AgentConfig, wording: tuple[str, str]) -> dict[str, Any]:
    assert wording[0] in config.prompt
    return {"prompt": config.prompt.replace(*wording)}


BREAKAGES: dict[str, Callable[[AgentConfig, Any], dict[str, Any]]] = {
    "without_rule": without_rule,
    "without_tool": without_tool,
    "truncated": truncated,
    "reworded": reworded,
}


def load_desk(
    folder: str, results: Mapping[str, Any], behaviours: Mapping[str, tuple[str, Callable[[Talk], bool]]]
) -> Desk:
    """The tools are in `tools.json`, the prompt in `prompt.md`; all other Markdown files are documents."""
    texts = {path.name: path.read_text() for path in sorted((TESTDATA / folder).glob("*.md"))}
    tools = json.loads((TESTDATA / folder / "tools.json").read_text())
    config = AgentConfig(
        prompt=texts.pop("prompt.md"),
        tools=tuple(read_tool(tool) for tool in tools),
        context=tuple(Document(name=name, text=text) for name, text in texts.items()),
    )
    return Desk(config, results, behaviours)


def measured(desk: Desk, trials: int) -> Callable[..., dict[str, float]]:
    """Rates after some breakages, one upon the other; each is measured once."""

    @cache
    def measure(*breakages: tuple[str, Any], model: str = "sim-large") -> dict[str, float]:
        broken = desk
        for how, what in breakages:
            broken = broken.broken(how, what)
        return broken.rates(trials, model)

    return measure


@pytest.fixture(name="converse", scope="session")
def _converse() -> Callable[..., Talk]:
    return converse


@pytest.fixture(scope="session")
def share() -> Callable[..., float]:
    return share_of_trials


@pytest.fixture(name="load_desk", scope="session")
def _load_desk() -> Callable[..., Desk]:
    return load_desk


@pytest.fixture(scope="module")
def rates(request: pytest.FixtureRequest) -> Callable[..., dict[str, float]]:
    """Of the domain that a module of tests describes."""
    module = request.module
    return measured(load_desk(module.FOLDER, module.RESULTS, module.BEHAVIOURS), module.N)
