"""Real LangGraph graphs whose flow is read, changed, and seen to have changed."""

import logging
from pathlib import Path

import pytest

from agentmut._base.errors import UsageError
from agentmut.adapters.langgraph import LangGraphAdapter
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending
from agentmut.nouns.tools import ToolSpec
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.seams.protocols.operator import OperatorOptions
from tests.adapters.langgraph_flows import BEFORE, CATALOGUE, MONEY, OPERATORS, Agent, agent, desk, log

pytestmark = pytest.mark.framework
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
LATE = {"question": "late"}


@pytest.fixture(scope="module")
def whole() -> Agent:
    return agent(desk)


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
