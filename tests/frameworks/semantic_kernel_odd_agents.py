"""Agents of Semantic Kernel at the edges of what agentmut runs; a script speaks for the model where need be."""

import json
from collections.abc import Callable
from typing import Any

from openai import AsyncOpenAI
from semantic_kernel import Kernel
from semantic_kernel.agents import (
    AgentGroupChat,
    ChatCompletionAgent,
    ConcurrentOrchestration,
    GroupChatOrchestration,
    HandoffOrchestration,
    OpenAIAssistantAgent,
    OrchestrationHandoffs,
    RoundRobinGroupChatManager,
    SequentialOrchestration,
)
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior
from semantic_kernel.connectors.ai.open_ai import (
    AzureChatCompletion,
    OpenAIChatCompletion,
    OpenAIChatPromptExecutionSettings,
)
from semantic_kernel.connectors.ai.prompt_execution_settings import PromptExecutionSettings
from semantic_kernel.contents import ChatMessageContent, FunctionCallContent
from semantic_kernel.functions import KernelArguments, KernelFunctionFromPrompt, kernel_function

from agentmut.nouns.config import AgentConfig
from tests.frameworks.semantic_kernel_agents import Orders, member

Say = str | tuple[str, dict[str, Any] | str]
"""What the script says: a text, or the name and the arguments of a call."""


class Scripted(OpenAIChatCompletion):
    """A service that says what it is told to, and keeps what it is asked."""

    script: list[Any]
    asked: list[dict[str, Any]]

    @classmethod
    def saying(cls, *script: Say) -> "Scripted":
        client = AsyncOpenAI(api_key="none", base_url="http://127.0.0.1:9")
        return cls.model_construct(
            client=client, ai_model_id="scripted", service_id="scripted", script=list(script), asked=[]
        )

    async def _inner_get_chat_message_contents(
        self, chat_history: Any, settings: Any
    ) -> list[ChatMessageContent]:
        messages = [(str(message.role.value), str(message)) for message in chat_history]
        self.asked.append({"messages": messages, **settings.prepare_settings_dict()})
        said = self.script.pop(0)
        if isinstance(said, str):
            return [ChatMessageContent(role="assistant", content=said)]
        name, arguments = said
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        call = FunctionCallContent(id=f"call-{len(self.asked)}", name=name, arguments=text)
        return [ChatMessageContent(role="assistant", items=[call])]


class Clock:
    """Another plugin."""

    @kernel_function(description="The day of the week.")
    def day(self) -> str:
        return "Monday"

    @kernel_function(description="Fails.")
    def fail(self, why: str = "no reason") -> str:
        raise ValueError(f"the clock has stopped: {why}")


LOOK_UP = ("Orders-look_up_order", {"order_id": "A-1"})


def scripted(*script: Say, **others: Any) -> ChatCompletionAgent:
    """An agent with both plugins."""
    return ChatCompletionAgent(
        **{
            "name": "desk",
            "instructions": "Be kind.",
            "service": Scripted.saying(*script),
            "plugins": [Orders(), Clock()],
            **others,
        }
    )


def service_of(agent: ChatCompletionAgent) -> Any:
    """Its service, which says what it was asked."""
    return next(iter(agent.kernel.services.values()))


def confused() -> ChatCompletionAgent:
    """It calls what there is not, and leaves out what there must be."""
    return scripted(
        ("Orders-cancel", {}),
        ("Orders-look_up_order", {}),
        ("Orders-look_up_order", "{not json"),
        LOOK_UP,
        "Done.",
    )


class Repeating(Scripted):
    """It gives every call the same id."""

    async def _inner_get_chat_message_contents(
        self, chat_history: Any, settings: Any
    ) -> list[ChatMessageContent]:
        said = await super()._inner_get_chat_message_contents(chat_history, settings)
        for item in said[0].items:
            if isinstance(item, FunctionCallContent):
                item.id = "c"
        return said


def confused_again() -> ChatCompletionAgent:
    """It leaves out what there must be, in its second turn, and does better then."""
    script: tuple[Say, ...] = (LOOK_UP, "Done.", ("Orders-look_up_order", {}), LOOK_UP, "Done.")
    return scripted(service=Repeating.saying(*script))


class Door:
    """What is behind it is seen when it is open."""

    @kernel_function(description="Open the door.")
    def open(self) -> str:
        return "It is open."


LATER: list[str] = []


def later() -> ChatCompletionAgent:
    """It has a plugin from its second turn on, and another once something is in the list."""
    script: tuple[Say, ...] = (("Door-open", {}), "Open.", ("Clock-day", {}), "Monday.")
    agent = scripted(*script, plugins=[Door(), *([Orders()] if LATER else [])])

    async def opened(context: Any, next: Callable[[Any], Any]) -> None:
        await next(context)
        if "Clock" not in context.kernel.plugins:
            context.kernel.add_plugin(Clock(), "Clock")

    agent.kernel.add_filter("auto_function_invocation", opened)
    return agent


def failing() -> ChatCompletionAgent:
    """One of its tools raises."""
    return scripted(("Clock-fail", {"why": "rust"}), "It failed.")


def templated() -> ChatCompletionAgent:
    """Its instructions are a template."""
    return scripted(
        "Done.",
        instructions="Today is {{Clock.day}}. {{$motto}}",
        arguments=KernelArguments(motto="Be kind."),
    )


def choosy() -> ChatCompletionAgent:
    """It offers one of its functions only."""
    behavior = FunctionChoiceBehavior.Auto(filters={"included_functions": ["Orders-look_up_order"]})
    return scripted(
        ("look_up", {"order_id": "A-1"}), ("Clock-day", {}), "Done.", function_choice_behavior=behavior
    )


def required() -> ChatCompletionAgent:
    """Its settings say how functions are chosen, and more."""
    settings = OpenAIChatPromptExecutionSettings(
        function_choice_behavior=FunctionChoiceBehavior.Required(),
        stop="END",
        max_completion_tokens=90,
        seed=4,
    )
    return scripted(LOOK_UP, "Done.", arguments=KernelArguments(settings))


class Streaming(ChatCompletionAgent):
    """It only answers piece by piece."""

    async def get_response(self, *args: Any, **named: Any) -> Any:
        raise NotImplementedError("use invoke_stream")


def streaming() -> ChatCompletionAgent:
    """Such a one."""
    return Streaming(name="desk", instructions="Be kind.", service=Scripted.saying())


async def in_pieces() -> Any:
    """An answer, instead of an agent."""
    yield "Hello."


def deployed() -> ChatCompletionAgent:
    """Its model is chosen by the address."""
    service = AzureChatCompletion(
        deployment_name="sim-large", endpoint="https://127.0.0.1:9", api_key="none", api_version="2024-10-21"
    )
    return ChatCompletionAgent(name="desk", instructions="Be kind.", service=service)


def without_tools() -> ChatCompletionAgent:
    """It has none."""
    return scripted("Done.", plugins=None)


def endless() -> ChatCompletionAgent:
    """It calls a tool again and again."""
    return scripted(*[LOOK_UP] * 9, "Done.")


FILTERED: list[str] = []
"""What the user's filters have seen."""


def filtered() -> ChatCompletionAgent:
    """It has filters of the user's; a turn ends with the result of a tool."""
    agent = scripted(LOOK_UP, "never said")

    @agent.kernel.filter("function_invocation")
    async def note(context: Any, next: Callable[[Any], Any]) -> None:
        FILTERED.append(context.function.fully_qualified_name)
        await next(context)

    @agent.kernel.filter("auto_function_invocation")
    async def stop(context: Any, next: Callable[[Any], Any]) -> None:
        await next(context)
        context.terminate = True

    return agent


def with_prompt_function() -> ChatCompletionAgent:
    """One of its tools is a prompt."""
    asks = KernelFunctionFromPrompt(
        function_name="shorten", plugin_name="Texts", description="Shorten it.", prompt="Shorten: {{$text}}"
    )
    agent = scripted(("Texts-shorten", {"text": "Good morning."}), "Hi.", "It says: Hi.")
    agent.kernel.add_function("Texts", asks)
    return agent


def team() -> ChatCompletionAgent:
    """Two that can be asked."""
    billing = scripted(
        ("Orders-look_up_order", {"order_id": "A-1"}), "Paid.", name="billing", description="Money."
    )
    stock = scripted("None left.", name="stock", description="Goods.", plugins=None)
    return scripted(
        ("billing-billing", {"messages": "Pay."}), "Done.", name="triage", plugins=[billing, Clock(), stock]
    )


def twins() -> ChatCompletionAgent:
    """Two of one name."""
    return scripted(plugins=[scripted()])


def from_config(config: AgentConfig) -> ChatCompletionAgent:
    """It is built as the config says; tools and limits are left to the adapter."""
    return scripted(("look_up", {"order_id": "A-1"}), "Done.", instructions=config.prompt or "Be kind.")


def without_service() -> ChatCompletionAgent:
    """There is nobody to ask."""
    return ChatCompletionAgent(name="desk", instructions="Be kind.")


class Plain(Scripted):
    """A service that knows no settings."""

    def get_prompt_execution_settings_class(self) -> type[PromptExecutionSettings]:
        return PromptExecutionSettings


def plain() -> ChatCompletionAgent:
    """Its service takes no settings."""
    return scripted(service=Plain.saying("Done."), plugins=None)


def assistant() -> Any:
    """Its instructions are at OpenAI."""
    return OpenAIAssistantAgent.model_construct(name="assistant")


def asks_assistant() -> ChatCompletionAgent:
    """It asks such a one."""
    other = OpenAIAssistantAgent.model_construct(name="assistant", description=None, instructions=None)
    other.model_post_init(None)
    return scripted(plugins=[other])


def with_assistant() -> Any:
    """One of its members is such a one."""
    return SequentialOrchestration([scripted(), assistant()])


def group() -> Any:
    """A manager that counts rounds lets them speak."""
    return GroupChatOrchestration(
        [member("a", "A."), member("b", "B.")], RoundRobinGroupChatManager(max_rounds=2)
    )


def both() -> Any:
    """Two at once."""
    return ConcurrentOrchestration([member("a", "A."), member("b", "B.")])


def untransformed() -> Any:
    """What it finds is no JSON."""
    return ConcurrentOrchestration([member("a", "A.")], output_transform=lambda said: json.loads(str(said)))


def vague() -> Any:
    """Semantic Kernel wants two types."""

    class Vague(SequentialOrchestration[str]):
        pass

    return Vague([member("a", "A.")])


def back_and_forth() -> Any:
    """They hand over to each other, and one has another agent for a plugin."""
    triage = member("triage", "Triage.", member("clerk", "Clerk."))
    others = [member("billing", "Billing."), member("stock", "Stock.")]
    handoffs = OrchestrationHandoffs().add_many(triage, others)
    return HandoffOrchestration([triage, *others], handoffs.add("stock", "triage").add("billing", "triage"))


def chat() -> Any:
    """Several that talk in a group."""
    return AgentGroupChat(agents=[scripted()])


def kernel() -> Any:
    """No agent."""
    return Kernel()


def raising() -> Any:
    """It cannot be built."""
    raise RuntimeError("no key for the shop")


KEPT = scripted("Done.")
