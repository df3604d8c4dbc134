"""Further agents of ADK: other ways of building them, and what cannot be run."""

from typing import Any

from google.adk.agents import LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.apps import App
from google.adk.events import Event
from google.adk.models import BaseLlm
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.agent_tool import AgentTool
from google.adk.workflow import START, FunctionNode, JoinNode, Workflow

from agentmut.nouns.config import AgentConfig
from tests.frameworks.google_adk_agents import MODEL, desk, look_up_order


def named() -> LlmAgent:
    """Its model is a name, of which ADK makes a client anew for each agent."""
    return LlmAgent(name="desk", model="gemini-2.5-flash", instruction="You help.", tools=[look_up_order])


LATER: list[Any] = []
"""Tools that agents have once a test puts them there."""


def growing() -> LlmAgent:
    """It has one tool at first."""
    return LlmAgent(name="desk", model=MODEL, instruction="You help.", tools=[look_up_order, *LATER])


def with_state() -> LlmAgent:
    """Its instruction is filled in from the state of the session."""
    return LlmAgent(name="desk", model=MODEL, instruction="You help {customer}.\n\n- Never promise a date.")


def with_provider() -> LlmAgent:
    """A function makes its instruction."""
    return LlmAgent(name="desk", model=MODEL, instruction=lambda context: "You help.", tools=[look_up_order])


def from_config(config: AgentConfig) -> LlmAgent:
    """It is built as the config says."""
    instruction = config.system_text() or "You help."
    return LlmAgent(name="desk", model=MODEL, instruction=instruction, tools=[look_up_order])


def asking() -> LlmAgent:
    """It calls another agent as a tool."""
    return LlmAgent(
        name="front",
        model=MODEL,
        instruction="You help customers.\n\n- Always ask the order desk.",
        tools=[AgentTool(LlmAgent(
            name="order_desk",
            description="Look up an order by its number.",
            model=MODEL,
            instruction="You look up orders.\n\n- Always look up the order.",
            tools=[look_up_order],
        ))],
    )  # fmt: skip


def answered_by_callback() -> LlmAgent:
    """The user's own callback answers in the tool's place."""
    return desk().clone(
        update={"before_tool_callback": lambda tool, args, tool_context: {"result": "by callback"}}
    )


class Counting(BasePlugin):
    """A plugin of the user's."""

    def __init__(self) -> None:
        super().__init__(name="counting")
        self.calls = 0

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        self.calls += 1


COUNTING = Counting()


def app() -> App:
    return App(name="shop", root_agent=desk(), plugins=[COUNTING])


def branches() -> SequentialAgent:
    """Two at once, in a loop, and one after them."""
    one, two, last = (
        LlmAgent(name=name, model=MODEL, instruction=f"You are {name}. Be brief.")
        for name in ("one", "two", "last")
    )
    both = ParallelAgent(name="both", sub_agents=[one, two])
    return SequentialAgent(
        name="flow", sub_agents=[both, LoopAgent(name="again", sub_agents=[last], max_iterations=2)]
    )


def of_three() -> LlmAgent:
    """One that hands over to either of two."""
    below: list[Any] = [
        LlmAgent(
            name=name,
            description=said,
            model=MODEL,
            instruction=f"You are {name}.",
            disallow_transfer_to_parent=True,
            disallow_transfer_to_peers=True,
        )
        for name, said in (("billing", "Handles refunds."), ("delivery", "Handles parcels."))
    ]
    return LlmAgent(name="triage", model=MODEL, instruction="Hand refunds to billing.", sub_agents=below)


OBJECT = desk()


class OtherModel(BaseLlm):
    """A model that is none of Gemini's."""

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        raise NotImplementedError
        yield


def other_model() -> LlmAgent:
    return LlmAgent(name="desk", model=OtherModel(model="mine"), instruction="You help.")


def unknown_model() -> LlmAgent:
    return LlmAgent(name="desk", model="no-such-model", instruction="You help.")


def twins() -> SequentialAgent:
    inner = SequentialAgent(name="inner", sub_agents=[LlmAgent(name="desk", model=MODEL)])
    return SequentialAgent(name="outer", sub_agents=[inner, LlmAgent(name="desk", model=MODEL)])


def polite(node_input: str) -> str:
    """A function as a node."""
    return f"Kindly: {node_input}"


def graph() -> Workflow:
    """A graph: two agents at once, a node that waits for both, a function, and one agent after them."""
    one, two, last = (
        LlmAgent(
            name=name,
            model=MODEL,
            instruction=f"You are {name}.\n\n- Be brief.\n- Always look up the order.",
            tools=[look_up_order],
        )
        for name in ("one", "two", "last")
    )
    both = JoinNode(name="both")
    return Workflow(name="graph", edges=[(START, one, both), (START, two, both), (both, last, polite)])


def routed() -> Workflow:
    """A graph whose function says where it goes on."""

    def decide(node_input: str) -> Any:
        yield Event(output=node_input, route="refund")

    billing, delivery = (
        LlmAgent(name=name, model=MODEL, instruction=f"You are {name}.") for name in ("billing", "delivery")
    )
    node = FunctionNode(func=decide, name="decide")
    return Workflow(name="routed", edges=[(START, node, {"refund": billing, "parcel": delivery})])


def nested() -> Workflow:
    """A graph in a graph; both have a function of one name."""
    one, last = (LlmAgent(name=name, model=MODEL, instruction=f"You are {name}.") for name in ("one", "last"))
    inner = Workflow(name="inner", edges=[(START, one, polite)])
    return Workflow(name="outer", edges=[(START, polite, inner, last)])


def functions() -> Workflow:
    """A graph without a model."""
    return Workflow(name="functions", edges=[(START, polite)])


def raising() -> LlmAgent:
    raise ValueError("no key")


def text() -> str:
    return "an agent"
