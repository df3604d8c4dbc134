"""A callable that runs the flow its config says: reading it is the proof that a mutant arrived."""

import asyncio
from typing import Any

from agentmut.adapters.python_callable import CallableAdapter
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Execution
from agentmut.nouns.flow import Flow
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.seams.plugins import Catalogue
from agentmut.seams.protocols.operator import OperatorOptions
from agentmut.trial.single_run import Case, attempt
from agentmut.trial.witness.witness import Detector, Route

CONFIG = AgentConfig(
    prompt="p",
    orchestration={
        "max_steps": 8,
        "nodes": ["draft", "review"],
        "edges": [["__start__", "draft"], ["draft", "review"], ["review", "__end__"]],
    },
)
STEPS = {"draft": lambda text: f"{text} drafted", "review": lambda text: f"{text}, reviewed"}


def follow(config: AgentConfig, given: Any) -> str:
    flow = Flow.from_orchestration(config.orchestration)
    following = {edge[0]: edge[1] for edge in flow.edges}
    text, node = str(given), following.get("__start__", "__end__")
    while node != "__end__":
        text = STEPS[node](text) if node in flow.nodes else text
        node = following.get(node, "__end__")
    return text


def ignore(config: AgentConfig, given: Any) -> str:
    return f"{config.prompt} {given}"


def run(function: Any, config: AgentConfig) -> Execution:
    scenario = Scenario(name="s", turns=("It is",), evaluators=(EvaluatorSpec(name="x"),))
    return asyncio.run(attempt(CallableAdapter(function, config), Case(scenario, {}), "t1", 0, 5.0))


def test_a_callable_follows_the_flow_of_each_mutant_and_its_reads_are_the_witness() -> None:
    catalogue = Catalogue.from_group("operators")
    operators = [catalogue.load(name)() for name in catalogue.names if name.startswith("orchestration.")]
    answers = {}
    for mutant in generate(CONFIG, operators, OperatorOptions()).mutants:
        execution = run(follow, mutant.apply(CONFIG))
        answers[mutant.description] = execution.trace.output
        witness = Detector(mutant, CONFIG).witness(execution.footprint)
        assert witness is not None and witness.route is Route.READ
        ignoring = run(ignore, mutant.apply(CONFIG))
        assert Detector(mutant, CONFIG).witness(ignoring.footprint) is None
    assert answers == {
        "stop a run after 4 steps instead of 8": "It is drafted, reviewed",
        "stop a run after 2 steps instead of 8": "It is drafted, reviewed",
        "skip the node draft": "It is, reviewed",
        "skip the node review": "It is drafted",
        "do not go on from __start__ to draft": "It is",
        "do not go on from draft to review": "It is drafted",
        "run review before draft": "It is, reviewed drafted",
    }
