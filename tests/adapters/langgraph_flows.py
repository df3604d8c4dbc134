"""Graphs of LangGraph with a flow, and their runs."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from operator import add
from typing import Annotated, Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, RetryPolicy

from agentmut.adapters.langgraph import LangGraphAdapter
from agentmut.mutation.generation import Generation, generate
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Execution
from agentmut.nouns.mutant import Mutant
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import ToolSpec
from agentmut.seams.plugins import Catalogue
from agentmut.seams.protocols.operator import Operator, OperatorOptions
from agentmut.trial.single_run import Case, attempt
from agentmut.trial.witness.witness import Detector

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


def agent(factory: Factory, **config: Any) -> Agent:
    given = AgentConfig(tools=(ToolSpec(name="any"),), **config)
    adapter = LangGraphAdapter(factory, given, "here:build").as_built()
    options = OperatorOptions()
    return Agent(adapter, generate(adapter.get_config(), OPERATORS, options, adapter.cannot_express))


def log(execution: Execution) -> list[str]:
    assert isinstance(execution.trace.output, dict), execution.reason
    found = execution.trace.output["log"]
    assert isinstance(found, list)
    return [str(entry) for entry in found]


BEFORE = ["intake", "fetch", "greet"]
