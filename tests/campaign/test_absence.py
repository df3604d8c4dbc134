"""Agents with a defect that keeps mutants from arriving, run through the engine: the cause is named, and a remedy."""

from typing import Any

import pytest

from agentmut._base.errors import RunError
from agentmut.mutation.controls import destroyed_mutant
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.footprints import Footprint, RequestShape
from agentmut.nouns.messages import ModelRequest, Role
from agentmut.nouns.mutant import Edit, Status
from agentmut.nouns.result import Result
from agentmut.nouns.tools import ToolSpec
from agentmut.report.terminal.mutant_page import render_mutant
from agentmut.report.terminal.run_page import render
from agentmut.seams.protocols.adapter import ChoosesRoute, RunsOutside
from agentmut.trial.on_wire import OnWire, remedy_on_wire
from agentmut.trial.witness.absence import absence
from agentmut.usecases.campaigns import measure

pytestmark = pytest.mark.whole

AGENT = """
import json, urllib.request
from pathlib import Path

import httpx

from agentmut import tool

URL = "%s"
PROMPT = (Path(__file__).parent / "prompt.md").read_text()
NOTHING = {"type": "object", "properties": {}}
TOOLS = [{"type": "function", "function": {"name": "look", "description": "Look up.", "parameters": NOTHING}}]


def body(config, input, prompt=None, tools=None, **more):
    own = [tool.to_openai() for tool in config.tools] if tools is None else tools
    prompt = config.system_text() if prompt is None else prompt
    system = [{"role": "system", "content": prompt}] if prompt else []
    told = {"model": "m", "messages": [*system, {"role": "user", "content": input}], **more}
    return told | ({"tools": own} if own else {})


@tool
def look():
    return "nothing"


def ask(told):
    look()
    return httpx.post(URL + "/chat/completions", json=told).json()["choices"][0]["message"]["content"]


"""
DEFECTS = {
    "prompt copied at import": "return ask(body(config, input, prompt=PROMPT))",
    "another wording": "return ask(body(config, input, prompt='You help people. Say alpha.'))",
    "tools of the module": "return ask(body(config, input, tools=TOOLS))",
    "tools in no request": "return ask(body(config, input, tools=[]))",
    "other tools": "return ask(body(config, input, tools=json.loads(json.dumps(TOOLS).replace('look', 'find'))))",
    "fixed setting": "return ask(body(config, input, temperature=0.5))",
    "setting never sent": "return ask(body(config, input))",
    "unseen client": """
    told = json.dumps(body({}, input, prompt=PROMPT, tools=TOOLS)).encode()
    request = urllib.request.Request(URL + "/chat/completions", told)
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
""",
    "reads only the prompt": "return look() and ('alpha' if config.prompt else 'no')",
    "late": """
    if config.prompt:
        ask(body(config, input, prompt=PROMPT))
    ask(body(config, input, prompt="Summarise.", tools=[]))
    return ask(body(config, input))
""",
}
LOOK: dict[str, Any] = {
    "name": "look",
    "description": "Look up.",
    "parameters": {"type": "object", "properties": {}},
}


@pytest.fixture
def planted(projects: Any, service: Any) -> Any:
    """Runs a project whose agent has a defect; the service answers well where the prompt tells it to."""
    service.answer = answer

    def run(
        defect: str, operators: list[str], rules: int = 1, route: str = "rebuild", **config: Any
    ) -> Result:
        agent = AGENT % service.url + f"def run(config, input):\n    {DEFECTS[defect]}\n"
        section = {"route": route, "config": {"prompt": "prompt.md", **config}}
        project = projects.write(
            ("alpha",), idle=rules - 1, agent=agent, agent_section=section,
            mutation={"operators": operators, "per_operator": 1}, statistics={"baseline": 10, "n_max": 40},
        )  # fmt: skip
        return measure(project)

    return run


def answer(request: ModelRequest) -> str:
    system = [message.text for message in request.messages if message.role is Role.SYSTEM]
    return "alpha" if any("alpha" in text for text in system) else "no"


def cause(result: Result) -> str:
    (row,) = result.mutants
    assert row.status is Status.NOT_APPLIED
    return row.reason


def test_a_prompt_copied_at_import_is_told_by_the_old_text_in_the_requests(planted: Any) -> None:
    with pytest.raises(RunError) as failed:  # not even the destroyed agent has another prompt
        planted("prompt copied at import", ["prompt.drop_instruction"])
    said = str(failed.value)
    assert 'requests still have the text from before ("- Always say alpha when asked for alpha.")' in said
    assert "copies the prompt when its module is imported" in said
    assert "inside the function that is given the config, or set `agent.route: wire`" in said


def test_another_wording_is_told_by_what_was_looked_for_and_what_was_sent(planted: Any) -> None:
    with pytest.raises(RunError) as failed:
        planted("another wording", ["prompt.drop_instruction"])
    said = str(failed.value)
    assert 'no request has the text "- Always say alpha when asked for alpha."' in said
    assert 'the first begins with "You help people. Say alpha."' in said
    assert "agent.config.prompt" in said


def test_tools_held_by_the_module_are_told_by_an_unchanged_offer(planted: Any) -> None:
    said = cause(planted("tools of the module", ["tool.remove"], tools=[LOOK]))
    assert "requests still offer look as before" in said
    assert "`agentmut.toolbox`" in said and "`bind_tools`" in said and "agent.route: wire" in said


def test_tools_that_no_request_offers_are_said_to_be_told_in_another_way(planted: Any) -> None:
    said = cause(planted("tools in no request", ["tool.remove"], tools=[LOOK]))
    assert "no baseline trial carried this part of the tools: no request offers any tool" in said


def test_tools_of_other_names_are_listed(planted: Any) -> None:
    said = cause(planted("other tools", ["tool.remove"], tools=[LOOK]))
    assert "no request offers look; they offer find. Correct agent.config.tools" in said


def test_a_setting_fixed_in_code_is_told_by_its_value(planted: Any) -> None:
    said = cause(planted("fixed setting", ["model.raise_temperature"], model={"name": "gpt-4o"}))
    assert "requests have temperature 0.5 all the same" in said and "fixed in the agent's code" in said
    assert "Take it from config.model.temperature" in said


def test_a_setting_that_is_never_sent_is_said_to_be_none(planted: Any) -> None:
    said = cause(planted("setting never sent", ["model.raise_temperature"], model={"name": "gpt-4o"}))
    assert "no request has a temperature: the agent does not pass it on" in said


def test_a_client_that_agentmut_does_not_see_is_led_to_the_proxy(planted: Any) -> None:
    with pytest.raises(RunError) as failed:
        planted("unseen client", ["prompt.drop_instruction"])
    said = str(failed.value)
    assert "no model request was seen" in said
    assert "`adapter: command`" in said and "`agentmut proxy`" in said


def test_an_agent_without_requests_is_told_what_it_read(planted: Any) -> None:
    said = cause(planted("reads only the prompt", ["tool.remove"], tools=[LOOK]))
    assert "of its config the agent read prompt, but not tools" in said


def test_a_change_that_misses_the_first_request_is_reported_with_its_share(planted: Any) -> None:
    result = planted("late", ["prompt.drop_instruction"], rules=2)
    (row,) = result.mutants
    assert row.status in (Status.KILLED, Status.SURVIVED)
    assert row.witness is not None
    told = row.witness
    # Of three requests a run the helper's is none that could show it.
    assert told.requests == 2 * told.trials and told.requests_shown == told.trials == told.first_missed
    assert (told.edits, told.edits_seen, told.prompts, told.prompts_shown) == (1, 1, 2, 1)
    said = f"reached {told.trials} of {2 * told.trials} requests that could have shown it; not the first one"
    assert said in " ".join(render(result).split())
    assert said in " ".join(render_mutant(result, row).split())


def test_a_prompt_copied_at_import_can_be_changed_on_the_wire(planted: Any) -> None:
    result = planted("prompt copied at import", ["prompt.drop_instruction"], route="wire")
    (row,) = result.mutants
    assert row.status is Status.KILLED and row.witness is not None
    assert row.witness.requests == row.witness.requests_shown == row.witness.trials


def test_another_wording_cannot_be_changed_on_the_wire_either(planted: Any) -> None:
    with pytest.raises(RunError) as failed:
        planted("another wording", ["prompt.drop_instruction"], route="wire")
    assert "On the wire a text is found word for word" in str(failed.value)


def test_on_the_wire_the_text_that_was_looked_for_is_named() -> None:
    base = AgentConfig(prompt="Be {mood}. Never promise dates.")
    shape = RequestShape(text="Sei nett.\n\nHi", system=9)
    said = absence(destroyed_mutant(base), base, [Footprint(requests=(shape,))], on_wire=_here)
    assert 'no request has the text "Be {mood}. Never promise dates."' in said
    assert 'begins with "Sei nett."' in said and "found word for word" in said
    nothing = absence(destroyed_mutant(base), base, [], on_wire=_here)
    assert nothing.endswith("none could be changed on the wire. do this for requests")


def _here(part: str) -> str:
    return f"do this for {part}"


OF_LOOK = Edit(pointer="/tools/0/description", before="Look up.", after="Look it up.")
SENT_AS_BEFORE = RequestShape(text="Be kind.", system=8, tools=(ToolSpec(**LOOK),))


def test_the_remedy_for_what_the_wire_cannot_change_is_the_adapters_own() -> None:
    base = AgentConfig(prompt="Be kind.", tools=(ToolSpec(**LOOK),))
    mutant = destroyed_mutant(base)
    seen = [Footprint(requests=(SENT_AS_BEFORE,))]
    assert absence(mutant, base, seen, _here).endswith("cannot be changed on the wire, so do this for prompt")
    of_tools = mutant.model_copy(update={"edits": (OF_LOOK,)})
    assert absence(of_tools, base, seen, _here).endswith("on the wire, so do this for tools")


class InProcess:
    """An agent that is built from its config."""

    def get_config(self) -> AgentConfig:
        return AgentConfig()


class Outside(InProcess, RunsOutside):
    """An agent elsewhere."""

    carries: frozenset[str] = frozenset()


class WireByDefault(InProcess, ChoosesRoute):
    """A function of the input alone, say."""

    default_route = "wire"


@pytest.mark.parametrize(
    "adapter, told",
    [
        (Outside(), "hand it over: a program has its config with `{config_file}` in agent.command"),
        (
            WireByDefault(),
            "let agent.run take (config, input), set `agent.route: rebuild`, and build the prompt",
        ),
        (InProcess(), "leave agent.route out, and build the prompt from the config that the agent is given"),
    ],
)
def test_an_agent_is_told_of_its_config_in_the_way_that_its_adapter_has(adapter: Any, told: str) -> None:
    assert OnWire(adapter, AgentConfig()).how_to_tell("prompt").startswith(told)


@pytest.mark.parametrize(
    "adapter, told, untold",
    [(Outside(), "OPENAI_BASE_URL", "httpx"), (InProcess(), "httpx", "OPENAI_BASE_URL")],
)
def test_only_an_agent_in_this_process_is_told_to_use_httpx(adapter: Any, told: str, untold: str) -> None:
    base = AgentConfig(prompt="Be kind.")
    said = absence(destroyed_mutant(base), base, [], remedy_on_wire(OnWire(adapter, base)))
    assert told in said and untold not in said
