"""Agents of AutoGen that answer from a script, and some that an adapter has to refuse."""

import json
from typing import Any

from autogen_agentchat.agents import AssistantAgent, BaseChatAgent, UserProxyAgent
from autogen_agentchat.conditions import HandoffTermination, MaxMessageTermination, TextMessageTermination
from autogen_agentchat.teams import DiGraphBuilder, GraphFlow, RoundRobinGroupChat, SelectorGroupChat, Swarm
from autogen_core import FunctionCall
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import CreateResult, RequestUsage
from autogen_core.tools import FunctionTool, StaticStreamWorkbench, StaticWorkbench, ToolOverride
from autogen_ext.models.openai import OpenAIChatCompletionClient
from autogen_ext.models.replay import ReplayChatCompletionClient

from tests.frameworks.autogen_agents import UNKNOWN_TO_AUTOGEN, client, issue_refund, look_up_order


def said(*replies: Any) -> ReplayChatCompletionClient:
    """A client that gives those replies, one after the other."""
    return ReplayChatCompletionClient(list(replies), model_info=UNKNOWN_TO_AUTOGEN)


def call(tool: str, arguments: str = "{}") -> CreateResult:
    """A reply that calls a tool."""
    return CreateResult(
        finish_reason="function_calls",
        content=[FunctionCall(id=f"call-{tool}-{len(arguments)}", name=tool, arguments=arguments)],
        usage=RequestUsage(prompt_tokens=1, completion_tokens=1),
        cached=False,
    )


LOOK_UP = call("look_up_order", '{"order_id": "A-1"}')


def one(*replies: Any, iterations: int = 1, **options: Any) -> AssistantAgent:
    options.setdefault("tools", [look_up_order])
    return AssistantAgent(
        "desk",
        said(*replies),
        system_message="Be kind.",
        max_tool_iterations=iterations,
        **options,
    )


def summarising() -> AssistantAgent:
    """AutoGen's default: the results of tools are the answer."""
    return one(LOOK_UP)


def never_done() -> AssistantAgent:
    """It calls its tool again and again, until its limit ends that."""
    return one(LOOK_UP, call("look_up_order", '{"order_id": "A-12"}'), iterations=2)


def confused() -> AssistantAgent:
    """It calls a tool that there is not, and one with what is no JSON."""
    return one(
        call("no_such_tool"), call("look_up_order", "{"), call("look_up_order", "[1]"), "Sorry.", iterations=5
    )


def side_by_side() -> GraphFlow:
    """Two agents at once, which both ask for tools that they have not, by the same id."""
    left, right = (
        AssistantAgent(name, said(call("find", json.dumps({"side": name})[:-1].ljust(19) + "}")))
        for name in ("left", "right")
    )
    return GraphFlow([left, right], DiGraphBuilder().add_node(left).add_node(right).build())


class Growing(StaticWorkbench):
    """It has one tool, and another from the second time on that it is asked for them."""

    asked = 0

    async def list_tools(self) -> Any:
        self.asked += 1
        return (await super().list_tools())[: self.asked]


def growing() -> AssistantAgent:
    """It asks for a tool that it does not have at first."""
    tools: list[Any] = [FunctionTool(look_up_order, "Look up."), FunctionTool(issue_refund, "Pay.")]
    refund = call("issue_refund", '{"order_id": "A-1", "amount": 2}')
    return one(LOOK_UP, refund, "Paid.", tools=None, workbench=Growing(tools), iterations=3)


def counting() -> AssistantAgent:
    """A tool that is a closure, which a dumped and loaded component would have lost."""
    seen: list[str] = []

    def count(order_id: str) -> int:
        """Count the orders."""
        seen.append(order_id)
        return len(seen)

    return one(call("count", '{"order_id": "A-1"}'), tools=[count])


def overridden() -> AssistantAgent:
    """Renamed by AutoGen's own overrides: a workbench that streams does not find the tool then."""
    overrides = {"look_up_order": ToolOverride(name="find")}
    workbench = StaticStreamWorkbench([FunctionTool(look_up_order, "Look up.")], tool_overrides=overrides)
    return one(call("find", '{"order_id": "A-1"}'), tools=None, workbench=workbench)


def swarm_with_user() -> Swarm:
    """It hands over to the user, and takes up again what the user says."""
    agent = one(call("transfer_to_user"), "Thank you.", tools=None, handoffs=["user"])
    return Swarm([agent], termination_condition=HandoffTermination("user") | TextMessageTermination("desk"))


def stopped_swarm() -> Swarm:
    """Its limit ends it right after a hand-off."""
    first = one(call("transfer_to_billing"), tools=None, handoffs=["billing"])
    return Swarm([first, AssistantAgent("billing", said("Done."))], max_turns=1)


def rounds() -> RoundRobinGroupChat:
    """A writer and a critic, one after the other, and one in a team within the team."""
    inner = RoundRobinGroupChat([AssistantAgent("printer", said("Printed."))], max_turns=1, name="press")
    writer, critic = AssistantAgent("writer", said("A poem.")), AssistantAgent("critic", said("Good."))
    return RoundRobinGroupChat([writer, critic, inner], max_turns=3)


def silent_team() -> RoundRobinGroupChat:
    """It is over before anybody says a word."""
    return RoundRobinGroupChat(
        [AssistantAgent("writer", said("A poem."))], termination_condition=MaxMessageTermination(1)
    )


def selected() -> SelectorGroupChat:
    """A model chooses who speaks."""
    writer, critic = AssistantAgent("writer", said("A poem.")), AssistantAgent("critic", said("Good."))
    return SelectorGroupChat([writer, critic], model_client=said("critic"), max_turns=1)


def of_another_kind() -> BaseChatAgent:
    """An agent without a model."""
    return UserProxyAgent("person", input_func=lambda asked: "Yes.")


def without_model() -> RoundRobinGroupChat:
    """A team of members that have no prompt."""
    return RoundRobinGroupChat([UserProxyAgent("person", input_func=lambda asked: "Yes.")], max_turns=1)


def streaming() -> AssistantAgent:
    """Its model answers piece by piece."""
    return AssistantAgent(
        "desk",
        client(stream_options={"include_usage": True}),
        tools=[look_up_order],
        system_message="Always look up the order before you answer.",
        max_tool_iterations=5,
        model_client_stream=True,
    )


def nameless() -> AssistantAgent:
    """A model that AutoGen does not know, without `model_info`."""
    return AssistantAgent("desk", OpenAIChatCompletionClient(model="sim-large"))


def lost() -> RoundRobinGroupChat:
    """A team whose model does not exist."""
    missing = OpenAIChatCompletionClient(model="no-such-model", model_info=UNKNOWN_TO_AUTOGEN)
    return RoundRobinGroupChat([AssistantAgent("writer", missing)], max_turns=1)


def asking_inside() -> AssistantAgent:
    """A blocking tool that asks a model itself, in the thread that AutoGen gives it."""

    def consult(topic: str) -> str:
        """Ask a model."""
        from openai import OpenAI

        asked = OpenAI().chat.completions.create(
            model="sim-large", messages=[{"role": "user", "content": topic}]
        )
        return asked.choices[0].message.content or "nothing"

    return one(call("consult", '{"topic": "tea"}'), tools=[consult])


KEPT = one("Hello.")


def the_same() -> AssistantAgent:
    """No fresh one."""
    return KEPT


def from_config(config: Any) -> AssistantAgent:
    """It takes prompt and model from the config, and has its own tools."""
    return AssistantAgent(
        "desk",
        client(api_key="none"),
        system_message=config.prompt or "Always look up the order before you answer.",
        tools=[look_up_order],
        max_tool_iterations=5,
    )


def renamed_call() -> AssistantAgent:
    """Its model calls the tool by another name than its own."""
    return one(call("count", '{"order_id": "A-1"}'))


CLOSED: list[str] = []


class Noting(ReplayChatCompletionClient):
    """A client that notes when it is closed."""

    def __init__(self, name: str) -> None:
        super().__init__(["Hello."] * 9, model_info=UNKNOWN_TO_AUTOGEN)
        self.name = name

    async def close(self) -> None:
        CLOSED.append(self.name)


FOR_ALL = Noting("for all")
CONTEXT = UnboundedChatCompletionContext()


def with_a_client_for_all() -> AssistantAgent:
    return AssistantAgent("desk", FOR_ALL)


def with_a_client_of_its_own() -> AssistantAgent:
    return AssistantAgent("desk", Noting("own"))


def with_a_common_context() -> AssistantAgent:
    """Each agent knows what the others were told."""
    return AssistantAgent("desk", said("Hello."), model_context=CONTEXT)


def three() -> Swarm:
    """One hands over to the second of three."""
    first = one(call("transfer_to_billing"), tools=None, handoffs=["billing"])
    others = AssistantAgent("billing", said("Paid.")), AssistantAgent("sales", said("Sold."))
    answered = TextMessageTermination("billing") | TextMessageTermination("sales")
    return Swarm([first, *others], termination_condition=answered)


def unfamiliar() -> AssistantAgent:
    """As another version of AutoGen might make it."""
    agent = one("Hello.")
    del agent._workbench
    return agent


LIMIT = MaxMessageTermination(3)


def with_a_common_end() -> RoundRobinGroupChat:
    """Fresh agents, and a condition that counts the messages of all teams."""
    stop = TextMessageTermination("nobody") | LIMIT
    return RoundRobinGroupChat([one("Hello.")], termination_condition=stop)
