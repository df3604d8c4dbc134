"""Settings of the model and the history, as they arrive at a service on loopback; real LangGraph."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from agentmut.adapters.langgraph import (
    LangGraphAdapter,
    bind_tools,
    config_middleware,
    model_settings,
)
from agentmut.adapters.python_callable import CallableAdapter
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig, Document, History, ModelConfig
from agentmut.nouns.execution import Execution
from agentmut.nouns.messages import ModelRequest
from agentmut.nouns.mutant import Mutant
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import read_tool
from agentmut.recording.threads import TrialThreads
from agentmut.seams.plugins import Catalogue
from agentmut.seams.protocols.operator import OnDemand, OperatorOptions
from agentmut.trial.single_run import Case, attempt
from agentmut.trial.witness.witness import Detector
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions

pytestmark = pytest.mark.framework

Factory = Callable[[AgentConfig], Any]
LOOP = asyncio.new_event_loop()
LOOP.set_default_executor(TrialThreads())


@tool
def look_up(order: str) -> str:
    """Look up an order by its number."""
    return f"{order} is on its way"


TOOLS: list[BaseTool] = [look_up]
CONFIG = AgentConfig(
    prompt="You help customers.",
    tools=(read_tool(look_up),),
    model=ModelConfig(
        name="sim-large",
        temperature=0.7,
        top_p=0.9,
        max_tokens=400,
        seed=7,
        stop=("END",),
        tool_choice="required",
        response_format={"type": "json_object"},
    ),
    context=(Document(name="policy", text="Refunds take 5 days. Gifts are final."),),
    history=History.KEPT,
)
THINKING = CONFIG.model_copy(update={"model": ModelConfig(name="sim-large", reasoning_effort="high")})
CATALOGUE = Catalogue.from_group("operators")


def mutants(config: AgentConfig, *classes: str) -> tuple[Mutant, ...]:
    """Return the mutants that a campaign makes of its own accord; test_langgraph_wire.py has those on demand."""
    made = [CATALOGUE.load(name)() for name in CATALOGUE.names if name.startswith(classes)]
    usual = [operator for operator in made if not isinstance(operator, OnDemand)]
    return generate(config, usual, OperatorOptions()).mutants


def by_settings(url: str) -> Factory:
    def build(config: AgentConfig) -> Any:
        chat = ChatOpenAI(base_url=url, api_key="k", max_retries=0, **model_settings(config))
        return create_agent(chat, bind_tools(config, TOOLS), system_prompt=config.system_text())

    return build


def by_middleware(url: str) -> Factory:
    """The agent itself has every setting of the original, which the mutant must be able to take away."""

    def build(config: AgentConfig) -> Any:
        own = ChatOpenAI(base_url=url, api_key="k", max_retries=0, **model_settings(CONFIG))
        return create_agent(own, TOOLS, system_prompt="never sent", middleware=[config_middleware(config)])

    return build


def by_name_only(url: str) -> Factory:
    def build(config: AgentConfig) -> Any:
        chat = ChatOpenAI(base_url=url, api_key="k", max_retries=0, model=config.model.name)
        return create_agent(chat, bind_tools(config, TOOLS), system_prompt=config.system_text())

    return build


def run(adapter: Any, *turns: Any) -> Execution:
    async def once() -> Execution:
        scenario = Scenario(name="s", turns=turns or ("Hi",), evaluators=(EvaluatorSpec(name="x"),))
        with Tap((ChatCompletions(),)).installed():
            return await attempt(adapter, Case(scenario, {}), "t1", 0, 600.0)

    found: Execution = LOOP.run_until_complete(once())
    return found


def settings_of(request: ModelRequest) -> dict[str, Any]:
    return {name: getattr(request, name) for name in ModelConfig.model_fields if hasattr(request, name)}


@pytest.mark.parametrize("make", [by_settings, by_middleware])
def test_every_change_of_a_setting_arrives_and_is_witnessed(make: Any, service: Any) -> None:
    found = mutants(CONFIG, "model.")
    assert {edit.path[1] for mutant in found for edit in mutant.edits} == {
        "temperature", "top_p", "max_tokens", "seed", "stop", "tool_choice", "response_format"
    }  # fmt: skip
    original = LangGraphAdapter(make(service.url), CONFIG, "here:build")
    assert run(original).footprint.requests
    assert settings_of(service.requests[0]) == settings_of_config(CONFIG)
    for mutant in found:
        service.requests.clear()
        mutated = mutant.apply(CONFIG)
        execution = run(original.with_config(mutated))
        (received,) = service.requests
        assert settings_of(received) == settings_of_config(mutated), mutant.description
        witness = Detector(mutant, CONFIG).witness(execution.footprint)
        assert witness is not None and witness.seen == 1, mutant.description


def settings_of_config(config: AgentConfig) -> dict[str, Any]:
    plain = dict(config.model)
    return {name: plain[name] for name in plain if name in ModelRequest.model_fields}


def test_less_effort_arrives(service: Any) -> None:
    found = mutants(THINKING, "model.reduce_reasoning_effort")
    original = LangGraphAdapter(by_settings(service.url), THINKING, "here:build")
    for mutant, effort in zip(found, ("medium", "low"), strict=True):
        service.requests.clear()
        execution = run(original.with_config(mutant.apply(THINKING)))
        assert service.requests[0].reasoning_effort == effort
        assert Detector(mutant, THINKING).witness(execution.footprint) is not None


def test_settings_that_a_factory_ignores_are_never_witnessed(service: Any) -> None:
    original = LangGraphAdapter(by_name_only(service.url), CONFIG, "here:build")
    before = run(original).footprint
    for mutant in mutants(CONFIG, "model."):
        detector = Detector(mutant, CONFIG)
        after = run(original.with_config(mutant.apply(CONFIG))).footprint
        is_told = detector.carried(before) and detector.witness(after) is not None
        assert not is_told, mutant.description


def test_the_agents_own_settings_stay_where_the_config_has_none(service: Any) -> None:
    silent = CONFIG.model_copy(update={"model": ModelConfig(name="sim-large")})
    run(LangGraphAdapter(by_middleware(service.url), silent, "here:build"))
    assert settings_of(service.requests[0]) == settings_of_config(CONFIG)


def test_without_tools_no_tool_choice_is_sent() -> None:
    assert "model_kwargs" not in model_settings(CONFIG.model_copy(update={"tools": ()}))
    assert model_settings(AgentConfig()) == {}


# Documents


def test_every_change_of_a_document_arrives_and_is_witnessed(service: Any) -> None:
    plain = CONFIG.model_copy(update={"model": ModelConfig(name="sim-large"), "history": None})
    original = LangGraphAdapter(by_settings(service.url), plain, "here:build")
    before = run(original).footprint
    found = mutants(plain, "context.")
    assert {mutant.operator for mutant in found} == {
        "context.truncate", "context.drop_document", "context.inject_noise", "context.duplicate_document",
        "context.corrupt_value", "context.stale_version", "context.contradict_fact",
        "context.embedded_instruction",
    }  # fmt: skip
    for mutant in found:
        service.requests.clear()
        mutated = mutant.apply(plain)
        execution = run(original.with_config(mutated))
        assert service.requests[0].system_text == mutated.system_text(), mutant.description
        detector = Detector(mutant, plain)
        witness = detector.witness(execution.footprint)
        assert witness is not None and witness.seen == len(mutant.edits), mutant.description
        assert detector.carried(before)
        assert detector.witness(before) is None, mutant.description  # an agent that ignores it


# History

ASKED = ("One?", "Two?", "Three?")


def conversing(url: str, checkpointer: Any = None) -> Factory:
    def build(config: AgentConfig) -> Any:
        bound = ChatOpenAI(base_url=url, api_key="k", model="m", max_retries=0).bind_tools(TOOLS)

        async def think(state: MessagesState) -> Any:
            return {"messages": [await bound.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState)
        graph.add_node("think", think)
        graph.add_node("act", ToolNode(TOOLS))
        graph.add_edge(START, "think")
        graph.add_conditional_edges("think", tools_condition, {"tools": "act", END: END})
        graph.add_edge("act", "think")
        return graph.compile(checkpointer=checkpointer)

    return build


def history(after: History) -> Mutant:
    (found,) = (m for m in mutants(CONFIG, "context.") if m.edits[0].after == after.value)
    return found


@pytest.mark.parametrize("checkpointed", [True, False])
def test_dropped_history_leaves_each_turn_alone(checkpointed: bool, service: Any) -> None:
    saver = InMemorySaver() if checkpointed else None
    adapter = LangGraphAdapter(conversing(service.url, saver), CONFIG, "here:build")
    mutant = history(History.DROPPED)
    execution = run(adapter.with_config(mutant.apply(CONFIG)), *ASKED)
    given = [[(m.role.value, m.text) for m in request.messages] for request in service.requests]
    assert given == [[("user", "One?")], [("user", "Two?")], [("user", "Three?")]]
    assert execution.footprint.marks == ("/history",)
    assert Detector(mutant, CONFIG).witness(execution.footprint) is not None
    assert len(execution.trace.outputs) == 3


@pytest.mark.parametrize("checkpointed", [True, False])
def test_swapped_speakers_leave_a_valid_conversation_without_tool_calls(
    checkpointed: bool, service: Any, calls: Any
) -> None:
    service.replies(calls(("look_up", '{"order": "A"}')), "Answer 1.", "Answer 2.", "Answer 3.")
    saver = InMemorySaver() if checkpointed else None
    adapter = LangGraphAdapter(conversing(service.url, saver), CONFIG, "here:build")
    mutant = history(History.SWAPPED)
    execution = run(adapter.with_config(mutant.apply(CONFIG)), *ASKED)
    last = service.requests[-1].messages
    assert [(m.role.value, m.text) for m in last] == [
        ("assistant", "One?"), ("user", "Answer 1."), ("assistant", "Two?"), ("user", "Answer 2."),
        ("user", "Three?"),
    ]  # fmt: skip
    assert not any(m.tool_calls for m in last)
    assert Detector(mutant, CONFIG).witness(execution.footprint) is not None


def test_a_single_turn_and_a_kept_history_are_not_marked(service: Any) -> None:
    adapter = LangGraphAdapter(conversing(service.url), CONFIG, "here:build")
    assert run(adapter, *ASKED).footprint.marks == ()
    for after in (History.DROPPED, History.SWAPPED):
        mutant = history(after)
        execution = run(adapter.with_config(mutant.apply(CONFIG)), "One?")
        assert execution.footprint.marks == ()
        assert Detector(mutant, CONFIG).witness(execution.footprint) is None


def test_turns_that_are_a_state_of_their_own_show_a_dropped_thread_only(service: Any) -> None:
    state = {"messages": [{"role": "user", "content": "x"}]}
    for saver, after, expected in (
        (InMemorySaver(), History.DROPPED, ("/history",)),
        (None, History.DROPPED, ()),
        (InMemorySaver(), History.SWAPPED, ()),
    ):
        config = CONFIG.model_copy(update={"history": after})
        adapter = LangGraphAdapter(conversing(service.url, saver), config, "here:build")
        assert run(adapter, state, state).footprint.marks == expected


def test_a_function_gets_the_last_turn_alone_where_the_history_is_dropped() -> None:
    adapter = CallableAdapter(lambda config, given: f"{given!r}", CONFIG)
    mutant = history(History.DROPPED)
    execution = run(adapter.with_config(mutant.apply(CONFIG)), *ASKED)
    assert execution.trace.output == "'Three?'"
    assert Detector(mutant, CONFIG).witness(execution.footprint) is not None
    assert run(adapter, *ASKED).trace.output == "['One?', 'Two?', 'Three?']"


def test_a_function_cannot_have_its_speakers_swapped() -> None:
    adapter = CallableAdapter(lambda config, given: "", CONFIG)
    assert adapter.cannot_express(history(History.SWAPPED)) == (
        "the function is given the user's turns in one call, and none of its answers"
    )
    assert adapter.cannot_express(history(History.DROPPED)) == ""
