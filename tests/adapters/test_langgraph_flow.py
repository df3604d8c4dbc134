"""Real LangGraph graphs whose flow is read, changed, and seen to have changed."""

import asyncio
import copy
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import add
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, create_react_agent
from langgraph.types import Command, RetryPolicy, Send
from pydantic import BaseModel

from agentmut._base.errors import UsageError
from agentmut.adapters.langgraph import LangGraphAdapter
from agentmut.mutation.generation import Generation, generate
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.mutant import Mutant
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import ToolSpec
from agentmut.seams.plugins import Catalogue
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.seams.protocols.operator import Operator, OperatorOptions
from agentmut.trial.single_run import Case, attempt
from agentmut.trial.witness.witness import Detector

pytestmark = pytest.mark.framework

Factory = Callable[[AgentConfig], Any]
CATALOGUE = Catalogue.from_group("operators")
OPERATORS: list[Operator] = [
    CATALOGUE.load(name)() for name in CATALOGUE.names if name.startswith("orchestration.")
]


class Desk(TypedDict, total=False):
    question: str
    log: Annotated[list[str], add]
    order: str
    answer: str


def step(name: str, **written: str) -> Any:
    return lambda state: {"log": [name], **written}


def triage(state: Desk) -> Command[Literal["billing", "tech"]]:
    target: Literal["billing", "tech"] = "billing" if "money" in state["question"] else "tech"
    return Command(goto=target, update={"log": ["triage"]})


def draft(state: Desk) -> dict[str, Any]:
    return {"log": ["draft"], "answer": f"Order {state.get('order', 'unknown')}."}


def verdict(state: Desk) -> str:
    return "late" if "late" in state["question"] else "fine"


def desk(config: AgentConfig, **compiling: Any) -> Any:
    failures = ["the service is away"]

    def fetch(state: Desk) -> dict[str, Any]:
        if failures:
            raise ConnectionError(failures.pop())
        return {"log": ["fetch"], "order": "A-1"}

    graph = StateGraph(Desk)
    graph.add_node("intake", step("intake"))
    graph.add_node(
        "fetch", fetch, retry_policy=RetryPolicy(max_attempts=3, initial_interval=0.001, jitter=False)
    )
    graph.add_node("greet", step("greet"))
    graph.add_node("triage", triage)
    graph.add_node("billing", step("billing"))
    graph.add_node("tech", step("tech"))
    graph.add_node("draft", draft)
    graph.add_node("review", step("review"))
    graph.add_node("apologise", step("apologise"))
    graph.add_edge(START, "intake")
    graph.add_edge("intake", "fetch")
    graph.add_edge("intake", "greet")
    graph.add_edge(["fetch", "greet"], "triage")
    graph.add_edge("billing", "draft")
    graph.add_edge("tech", "draft")
    graph.add_edge("draft", "review")
    graph.add_conditional_edges("review", verdict, {"fine": END, "late": "apologise"})
    graph.add_edge("apologise", END)
    return graph.compile(**compiling)


DESCRIBED = {
    "max_steps": 10007,
    "nodes": ["intake", "fetch", "greet", "triage", "billing", "tech", "draft", "review", "apologise"],
    "edges": [
        ["__start__", "intake"], ["intake", "fetch"], ["intake", "greet"], ["fetch", "greet", "triage"],
        ["billing", "draft"], ["tech", "draft"], ["draft", "review"], ["apologise", "__end__"],
    ],
    "branches": [{"source": "review", "name": "verdict", "ends": {"fine": "__end__", "late": "apologise"}}],
    "handoffs": {"triage": {"billing": "billing", "tech": "tech"}},
    "retries": {"fetch": 2},
}  # fmt: skip


@dataclass
class Agent:
    adapter: LangGraphAdapter
    generation: Generation

    def run(self, mutant: Mutant | None = None, *turns: Any) -> Execution:
        config = self.adapter.get_config()
        changed = self.adapter.with_config(mutant.apply(config) if mutant else config)
        scenario = Scenario(name="s", turns=turns or (MONEY,), evaluators=(EvaluatorSpec(name="x"),))
        return asyncio.run(attempt(changed, Case(scenario, {}), "t1", 0, 600.0))

    def mutant(self, operator: str, description: str) -> Mutant:
        found = [m for m in self.generation.mutants if m.operator == f"orchestration.{operator}"]
        return {mutant.description: mutant for mutant in found}[description]

    def witnessed(self, mutant: Mutant, execution: Execution) -> bool:
        return Detector(mutant, self.adapter.get_config()).witness(execution.footprint) is not None

    def dropped(self) -> dict[str, str]:
        return {dropped.description: dropped.reason for dropped in self.generation.dropped}


MONEY = {"question": "money back"}
LATE = {"question": "late"}


def agent(factory: Factory, **config: Any) -> Agent:
    given = AgentConfig(tools=(ToolSpec(name="any"),), **config)
    adapter = LangGraphAdapter(factory, given, "here:build").as_built()
    options = OperatorOptions()
    return Agent(adapter, generate(adapter.get_config(), OPERATORS, options, adapter.cannot_express))


@pytest.fixture(scope="module")
def whole() -> Agent:
    return agent(desk)


def log(execution: Execution) -> list[str]:
    assert isinstance(execution.trace.output, dict), execution.reason
    found = execution.trace.output["log"]
    assert isinstance(found, list)
    return [str(entry) for entry in found]


BEFORE = ["intake", "fetch", "greet"]


def test_a_graph_tells_its_flow(whole: Agent) -> None:
    told = dict(whole.adapter.get_config().orchestration)
    state = told.pop("state")
    assert told == DESCRIBED
    assert state == {"triage": ["question"], "draft": ["order"]}  # the keys that their code reads
    again = agent(desk).adapter.get_config()
    assert again == whole.adapter.get_config()


def test_the_original_enters_its_nodes_and_marks_nothing(whole: Agent) -> None:
    execution = whole.run()
    assert log(execution) == [*BEFORE, "triage", "billing", "draft", "review"]
    assert execution.footprint.nodes == (
        "billing", "draft", "fetch", "greet", "intake", "review", "triage",
    )  # fmt: skip
    assert execution.footprint.marks == ()


def test_every_mutant_is_witnessed_where_its_subject_runs_or_is_dropped_with_a_reason(whole: Agent) -> None:
    assert {mutant.operator for mutant in whole.generation.mutants} == {o.id for o in OPERATORS} - {
        "orchestration.swap_agents"
    }
    originals = [(turn, whole.run(None, turn)) for turn in (MONEY, LATE)]
    for mutant in whole.generation.mutants:
        entering = [t for t, run in originals if not mutant.subject or mutant.subject in run.footprint.nodes]
        executions = [whole.run(mutant, turn) for turn in entering]
        seen = [whole.witnessed(mutant, execution) for execution in executions]
        if "branch" in mutant.operator or "handoff" in mutant.operator:
            assert any(seen), mutant.description  # the other turn takes the other way
        else:
            assert seen and all(seen), mutant.description
    assert whole.dropped() == {
        "skip the node triage": "triage itself decides where the run goes on, with a Command",
        "do not go on from __start__ to intake": "LangGraph does not compile it: Graph must have an entrypoint: "
        "add at least one edge from START to another node",
    }


@pytest.mark.parametrize(
    ("operator", "description", "turn", "expected"),
    [
        ("remove_node", "skip the node draft", MONEY, [*BEFORE, "triage", "billing", "review"]),
        (
            "remove_node",
            "skip the node fetch",
            MONEY,
            ["intake", "greet", "triage", "billing", "draft", "review"],
        ),
        ("remove_edge", "do not go on from draft to review", MONEY, [*BEFORE, "triage", "billing", "draft"]),
        ("remove_edge", "do not go on from fetch and greet to triage", MONEY, BEFORE),
        (
            "reroute_branch",
            "after review, let 'fine' lead to apologise instead of __end__",
            MONEY,
            [*BEFORE, "triage", "billing", "draft", "review", "apologise"],
        ),
        (
            "reroute_branch",
            "after review, let 'late' lead to __end__ instead of apologise",
            LATE,
            [*BEFORE, "triage", "tech", "draft", "review"],
        ),
        ("drop_handoff", "drop the hand-off from triage to billing", MONEY, [*BEFORE, "triage"]),
        (
            "misdirect_handoff",
            "hand over from triage to tech instead of billing",
            MONEY,
            [*BEFORE, "triage", "tech", "draft", "review"],
        ),
        (
            "serialise_branches",
            "run fetch, greet one after the other instead of side by side",
            MONEY,
            [*BEFORE, "triage", "billing", "draft", "review"],
        ),
    ],
)
def test_the_graph_runs_as_the_mutant_says(
    whole: Agent, operator: str, description: str, turn: dict[str, str], expected: list[str]
) -> None:
    mutant = whole.mutant(operator, description)
    execution = whole.run(mutant, turn)
    assert log(execution) == expected
    assert whole.witnessed(mutant, execution)


def test_a_decision_that_goes_the_other_way_is_no_witness(whole: Agent) -> None:
    for operator, description in (
        ("drop_handoff", "drop the hand-off from triage to billing"),
        ("reroute_branch", "after review, let 'fine' lead to apologise instead of __end__"),
    ):
        mutant = whole.mutant(operator, description)
        execution = whole.run(mutant, LATE)
        assert log(execution) == [*BEFORE, "triage", "tech", "draft", "review", "apologise"]
        assert not whole.witnessed(mutant, execution)


def test_a_node_without_its_retry_fails_at_once(whole: Agent) -> None:
    mutant = whole.mutant("disable_retry", "do not try the node fetch again when it fails")
    execution = whole.run(mutant)
    assert execution.trace.error == "ConnectionError: the service is away"
    assert whole.witnessed(mutant, execution)


def test_a_node_is_not_passed_a_key(whole: Agent) -> None:
    mutant = whole.mutant("drop_state", "do not pass order to the node draft")
    execution = whole.run(mutant)
    assert isinstance(execution.trace.output, dict)
    assert execution.trace.output["answer"] == "Order unknown."
    assert whole.witnessed(mutant, execution)


def test_a_run_is_stopped_at_the_cut_limit(whole: Agent) -> None:
    mutant = whole.mutant("cut_max_steps", "stop a run after 4 steps instead of the framework's own limit")
    execution = whole.run(mutant)
    assert execution.ending is Ending.RAISED
    assert "Recursion limit of 4 reached" in execution.reason
    assert whole.witnessed(mutant, execution)


def test_a_run_of_the_unchanged_flow_gives_no_mutant_a_witness(whole: Agent) -> None:
    executions = whole.run(), whole.run(None, LATE)
    for mutant in whole.generation.mutants:
        for execution in executions:
            assert not whole.witnessed(mutant, execution), mutant.description


def helper(state: Desk) -> str:
    return state["order"]


def by_helper(state: Desk) -> Desk:
    return {"answer": helper(state)}


def as_a_whole(state: Desk) -> Desk:
    return {**state}


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (by_helper, ["order"]),
        (partial(draft), ["order"]),
        (as_a_whole, ["question", "log", "order", "answer"]),
        (copy.copy, ["question", "log", "order", "answer"]),
        (lambda state: {"answer": "no matter"}, []),
    ],
)
def test_what_a_node_reads_is_read_off_its_code(function: Any, expected: list[str]) -> None:
    def build(config: AgentConfig) -> Any:
        graph = StateGraph(Desk)
        graph.add_node("node", function, input_schema=Desk)
        graph.add_edge(START, "node")
        return graph.compile()

    state = agent(build).adapter.get_config().orchestration.get("state")
    assert state == ({"node": expected} if expected else None)


# Other graphs


def linear(config: AgentConfig) -> Any:
    graph = StateGraph(Desk)
    graph.add_sequence([(name, step(name)) for name in ("one", "two", "three")])
    graph.add_edge(START, "one")
    return graph.compile()


def test_neighbours_of_a_pipeline_trade_places() -> None:
    pipeline = agent(linear)
    for description, expected in (
        ("run two before one", ["two", "one", "three"]),
        ("run three before two", ["one", "three", "two"]),
    ):
        mutant = pipeline.mutant("swap_agents", description)
        execution = pipeline.run(mutant)
        assert log(execution) == expected
        assert pipeline.witnessed(mutant, execution)


def test_a_graph_in_a_node_is_one_node_and_hands_over_through_its_parent() -> None:
    def build(config: AgentConfig) -> Any:
        inner = StateGraph(Desk)
        inner.add_node(
            "think", lambda state: Command(graph=Command.PARENT, goto="billing", update={"log": ["think"]})
        )
        inner.add_edge(START, "think")
        graph = StateGraph(Desk)
        graph.add_node("team", inner.compile(), destinations=("billing", "tech"))
        graph.add_node("billing", step("billing"))
        graph.add_node("tech", step("tech"))
        graph.add_edge(START, "team")
        return graph.compile()

    team = agent(build)
    assert team.adapter.get_config().orchestration["nodes"] == ["team", "billing", "tech"]
    original = team.run()
    assert log(original) == ["think", "billing"]
    assert original.footprint.nodes == ("billing", "team")
    mutant = team.mutant("misdirect_handoff", "hand over from team to tech instead of billing")
    execution = team.run(mutant)
    assert log(execution) == ["think", "tech"]
    assert team.witnessed(mutant, execution)


def test_packets_are_handed_over_elsewhere_with_what_they_carry() -> None:
    def fan(state: Desk) -> Command[Literal["one", "two"]]:
        return Command(goto=[Send("one", {"question": "a"}), Send("one", {"question": "b"})])

    def build(config: AgentConfig) -> Any:
        graph = StateGraph(Desk)
        graph.add_node("fan", fan)
        graph.add_node("one", lambda state: {"log": [f"one {state['question']}"]})
        graph.add_node("two", lambda state: {"log": [f"two {state['question']}"]})
        graph.add_edge(START, "fan")
        return graph.compile()

    fanned = agent(build)
    assert log(fanned.run()) == ["one a", "one b"]
    misdirected = fanned.mutant("misdirect_handoff", "hand over from fan to two instead of one")
    assert log(fanned.run(misdirected)) == ["two a", "two b"]


class Typed(BaseModel):
    question: str = ""
    log: Annotated[list[str], add] = []
    order: str | None = "A-1"


def test_a_state_of_pydantic_models_loses_keys_too() -> None:
    def build(config: AgentConfig) -> Any:
        graph = StateGraph(Typed)
        graph.add_node("draft", lambda state: {"log": [f"order {state.order}"]})
        graph.add_edge(START, "draft")
        return graph.compile()

    typed = agent(build)
    mutant = typed.mutant("drop_state", "do not pass order to the node draft")
    execution = typed.run(mutant, {"question": "?", "order": "A-2"})
    assert log(execution) == ["order None"]
    assert typed.witnessed(mutant, execution)


class Notes(AgentMiddleware[Any, Any]):
    def before_agent(self, state: Any, runtime: Any) -> None:
        """Does nothing, in a node of its own."""


@tool
def look_up(order: str) -> str:
    """Look up an order."""
    return order


def by_create_agent(config: AgentConfig) -> Any:
    model = GenericFakeChatModel(messages=iter(["Hello."]))
    return create_agent(model, [], middleware=[Notes()])


def test_the_loop_of_create_agent_is_left_alone() -> None:
    assistant = agent(by_create_agent)
    assert assistant.adapter.get_config().orchestration == {
        "max_steps": 9999,
        "nodes": ["Notes.before_agent"],
    }
    assert [mutant.description for mutant in assistant.generation.mutants] == [
        "stop a run after 10 steps instead of the framework's own limit",
        "stop a run after 4 steps instead of the framework's own limit",
        "skip the node Notes.before_agent",
    ]
    skipped = assistant.generation.mutants[-1]
    execution = assistant.run(skipped, "Hi")
    assert execution.trace.output == "Hello."
    assert assistant.witnessed(skipped, execution)
    assert "model" in execution.footprint.nodes


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
def test_the_loop_of_the_older_ready_made_agent_is_left_alone() -> None:
    model = GenericFakeChatModel(messages=iter(()))
    found = agent(lambda config: create_react_agent(model, [], pre_model_hook=lambda state: state))
    assert found.adapter.get_config().orchestration == {"max_steps": 10007, "nodes": ["pre_model_hook"]}


def test_a_tool_node_is_not_skipped() -> None:
    def build(config: AgentConfig) -> Any:
        graph = StateGraph(MessagesState)
        graph.add_node("think", lambda state: {"messages": [("ai", "Done.")]})
        graph.add_node("act", ToolNode([look_up]))
        graph.add_edge(START, "think")
        graph.add_conditional_edges("think", lambda state: "end", {"act": "act", "end": END})
        return graph.compile()

    reasons = agent(build).dropped()
    assert "act is a tool node: without it calls have no results" in reasons["skip the node act"]


def test_a_graph_keeps_how_it_was_compiled() -> None:
    saver = InMemorySaver()
    stopped = agent(lambda config: desk(config, checkpointer=saver, interrupt_before=["draft"], name="desk"))
    mutant = stopped.mutant("misdirect_handoff", "hand over from triage to tech instead of billing")
    assert log(stopped.run(mutant)) == [*BEFORE, "triage", "tech"]


def test_the_project_file_says_more_than_the_graph() -> None:
    narrowed = agent(desk, orchestration={"max_steps": 8, "edges": [["draft", "review"]], "mine": {"a": 1}})
    config = narrowed.adapter.get_config()
    assert config.orchestration["mine"] == {"a": 1}
    assert [m.description for m in narrowed.generation.mutants if "edge" in m.operator] == [
        "do not go on from draft to review"
    ]
    assert narrowed.run(None, LATE).ending is Ending.ANSWERED
    wrong = agent(desk, orchestration={"edges": [["draft", "reviw"]]})
    assert wrong.dropped()["do not go on from draft to reviw"] == "the graph has no edge from draft to reviw"


def test_a_limit_of_the_project_file_holds() -> None:
    short = agent(desk, orchestration={"max_steps": 2})
    assert "Recursion limit of 2 reached" in short.run().reason


def spec(tmp_path: Path, body: str, name: str) -> AgentSpec:
    (tmp_path / f"{name}.py").write_text(body)
    return AgentSpec(adapter="langgraph", factory=f"{name}:build", root=str(tmp_path))


def test_an_agent_that_cannot_be_built_has_no_flow_and_its_other_mutants(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = spec(tmp_path, "def build(config): raise KeyError('OPENAI_API_KEY')", "flow_without_key")
    config = AgentConfig(prompt="Be polite.", tools=(ToolSpec(name="any"),))
    with caplog.at_level(logging.WARNING):
        adapter = LangGraphAdapter.create(broken, config)
    assert caplog.messages == []  # `doctor`, `mutants` and `run` say it, once
    assert "OPENAI_API_KEY" in adapter.not_built
    assert adapter.get_config() == config
    operators = [CATALOGUE.load("prompt.drop_instruction")(), *OPERATORS]
    generation = generate(config, operators, OperatorOptions(), adapter.cannot_express)
    assert [mutant.operator for mutant in generation.mutants] == ["prompt.drop_instruction"]
    reasons = dict(generation.empty)
    assert reasons["orchestration.reroute_branch"].endswith(
        "because the agent has no hand-offs, nodes, edges, retries or limit of steps that its adapter can change"
    )


def test_the_old_name_of_the_limit_is_refused(tmp_path: Path) -> None:
    found = spec(tmp_path, "def build(config): return None", "flow_old_limit")
    with pytest.raises(UsageError, match="'recursion_limit' is now called 'max_steps'"):
        LangGraphAdapter.create(found, AgentConfig(orchestration={"recursion_limit": 5}))
