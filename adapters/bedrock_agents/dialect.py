"""The tool loop's side of Bedrock agents: the service asks the model, and returns control for our tools.

What was said is kept by the service, in a session. A conversation here holds a mark of its session after each reply;
one without a mark begins a new session.
"""

import uuid
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from pydantic import JsonValue

from agentmut._base import AdapterError, described
from agentmut.adapters._shared.boto3 import Boto3
from agentmut.adapters._shared.tool_loop.dialect import Answer, Dialect, Items, Reply
from agentmut.adapters.bedrock_agents import terms
from agentmut.adapters.bedrock_agents.calls import SERVICE, AgentCalls, watched
from agentmut.adapters.bedrock_agents.trace import CallEvents
from agentmut.nouns import AgentConfig, ModelConfig
from agentmut.recording import KeptThreads, current_trial

PATIENCE = 600
"""Seconds without an event after which a call is given up. boto3's own 60 are fewer than some agents take, and it
would then call the agent a second time."""


class _Mark(NamedTuple):
    """The progress of a session."""

    session: str
    invocation: str = ""
    calls: tuple[terms.ClientCall, ...] = ()


@dataclass(frozen=True)
class AgentOptions:
    """The project's options of an agent, apart from its config."""

    region: str | None = None
    agent: str = ""
    """The id of a deployed agent; empty for one that comes with each call."""
    alias: str = ""
    group: str = "tools"
    """What the action group of an inline agent is called."""
    template: str | None = None
    """The prompt template of an inline agent's orchestration."""
    state: Mapping[str, JsonValue] | None = None
    """What else is in the state of each call: session attributes, files, filters of knowledge bases."""
    confirm: bool = False
    """Whether calls that the user is to confirm are confirmed; they are a failure otherwise."""
    more: Mapping[str, JsonValue] = field(default_factory=dict)
    """Other parameters of each call: knowledge bases, guardrails, collaborators."""


OWN = (
    "sessionId", "enableTrace", "inputText", "endSession", "streamingConfigurations", "sessionState",
    "inlineSessionState", "agentId", "agentAliasId", "foundationModel", "instruction", "promptOverrideConfiguration",
)  # fmt: skip
"""Parameters that calls are given from the config, the scenario and the other options."""
LASTING = ("sessionAttributes", "files", "conversationHistory")
"""What a session keeps of the state once it was told. To say it again would undo what has become of it."""


class AgentDialect(Dialect):
    """Calls an agent through one operation."""

    package: ClassVar[str] = "boto3"
    operation: ClassVar[str]
    state_key: ClassVar[str]

    def __init__(self, options: AgentOptions, *, stream: bool = False) -> None:
        super().__init__(stream=stream)
        self.options = options
        self._boto3 = Boto3(SERVICE, options.region, read_timeout=PATIENCE, made=watched)
        self._threads = KeptThreads()

    def client(self) -> AbstractAsyncContextManager[Any]:
        """Return the calls of one run. Raise `AdapterError`."""
        return nullcontext(_calls(self._boto3))

    async def ask(self, client: AgentCalls, config: AgentConfig, conversation: Items) -> Reply:
        """Make one call of the agent, which may include several model calls."""
        body, told = self._body(config, conversation), client.collector(confirm=self.options.confirm)
        try:
            await self._threads.run(client.invoke, self.operation, body, told)
        except BaseException as error:  # also where the time is up: what was done is part of the trace
            told.end(described(error))
            raise
        told.end()
        return _reply(told, body["sessionId"], config.model.name)

    def answered(self, answers: Sequence[Answer]) -> Items:
        """Return the results unchanged."""
        return [tuple(answers)] if answers else []

    @abstractmethod
    def agent_parts(self, config: AgentConfig) -> dict[str, Any]:
        """Return the parts of the config that go to the agent."""

    def _body(self, config: AgentConfig, conversation: Items) -> dict[str, Any]:
        marks = [index for index, item in enumerate(conversation) if isinstance(item, _Mark)]
        mark: _Mark | None = conversation[marks[-1]] if marks else None
        fresh = conversation[marks[-1] + 1 :] if marks else conversation
        answers = [answer for item in fresh if isinstance(item, tuple) for answer in item]
        said = [item for item in fresh if isinstance(item, dict)]
        given = {key: v for key, v in (self.options.state or {}).items() if not (mark and key in LASTING)}
        state = {
            **given,
            **_attributes(given, terms.documents(config.context)),
            **terms.earlier(said[:-1]),
            **(_results(mark, answers) if mark else {}),
        }
        streamed = {"streamingConfigurations": {"streamFinalResponse": True}} if self._stream else {}
        return {
            **self.options.more,
            **self.agent_parts(config),
            **({"inputText": said[-1]["content"]} if said else {}),
            "sessionId": mark.session if mark else uuid.uuid4().hex,
            "enableTrace": True,
            **streamed,
            **({self.state_key: state} if state else {}),
        }


class InlineAgentDialect(AgentDialect):
    """`invoke_inline_agent`: prompt, tools and model go with each call."""

    api: ClassVar[str] = "InvokeInlineAgent"
    operation: ClassVar[str] = "invoke_inline_agent"
    state_key: ClassVar[str] = "inlineSessionState"

    def refuses(self, model: ModelConfig) -> str:
        """Return settings that the operation does not take."""
        return terms.unsupported(model, self.options.template)

    def agent_parts(self, config: AgentConfig) -> dict[str, Any]:
        """Return the agent as a whole."""
        others = self.options.more.get("actionGroups")
        groups = [
            *terms.action_group(self.options.group, config.tools),
            *(others if isinstance(others, list) else ()),
        ]
        return {
            "foundationModel": config.model.name,
            "instruction": terms.instruction(config.prompt),
            **({"actionGroups": groups} if groups else {}),
            **terms.override(config.model, self.options.template),
        }


class DeployedAgentDialect(AgentDialect):
    """`invoke_agent`: prompt, tools and model are kept by the service."""

    api: ClassVar[str] = "InvokeAgent"
    operation: ClassVar[str] = "invoke_agent"
    state_key: ClassVar[str] = "sessionState"

    def refuses(self, model: ModelConfig) -> str:
        """Return an empty text: a setting that the service does not know is not sent."""
        return ""

    def agent_parts(self, config: AgentConfig) -> dict[str, Any]:
        """Return the identity of the agent."""
        return {"agentId": self.options.agent, "agentAliasId": self.options.alias}


def _calls(boto3: Boto3) -> AgentCalls:
    trial = current_trial()
    if trial is None:
        raise AdapterError("an agent of Bedrock is run in a trial")
    if trial.player is not None:
        raise AdapterError("runs of Bedrock agents are not recorded, so they cannot be replayed")
    return AgentCalls(boto3.client(), trial)


def _reply(events: CallEvents, session: str, model: str) -> Reply:
    last = events.thoughts[-1] if events.thoughts else None
    calls = tuple(one.call for one in events.calls if not one.is_question)
    return Reply(
        text=events.text,
        calls=calls,
        items=[_Mark(session, events.invocation, tuple(events.calls))],
        usage=last.usage if last else events.usage,
        model=events.model or model,
        cut="a guardrail intervened" if events.blocked and not events.calls else "",
        unfinished=bool(events.calls) and not calls,
        began=last.started if len(events.thoughts) > 1 and last else None,
        node=last.node if last else "",
    )


def _results(mark: _Mark, answers: Sequence[Answer]) -> dict[str, Any]:
    if not mark.calls:
        return {}
    by_id = {answer.call.id: answer for answer in answers}
    results = [terms.result_of(one, by_id.get(one.call.id)) for one in mark.calls]
    return {"invocationId": mark.invocation, "returnControlInvocationResults": results}


def _attributes(state: Mapping[str, Any] | None, documents: Mapping[str, str]) -> dict[str, Any]:
    """Return the documents and the project's own session attributes."""
    key = "promptSessionAttributes"
    return {key: {**((state or {}).get(key) or {}), **documents}} if documents else {}
