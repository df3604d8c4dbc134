"""Adapter for LangGraph: a compiled graph, or a graph that a factory builds anew for every trial.

Model calls, tool calls (parallel ones kept apart), their errors and durations come from LangChain's
callbacks; tools in `ToolNode`s can be answered by doubles. Nested graphs are looked into, those that functions and
tools call included. Where a graph asks with `interrupt()`, the question is its answer to the turn.
"""

import inspect
import logging
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import JsonValue

from agentmut._base import AdapterError, UsageError, described, import_object, jsonable
from agentmut.adapters._shared.change import seeing
from agentmut.adapters._shared.conversation import Conversation
from agentmut.adapters._shared.sdk_version import require_sdk
from agentmut.adapters.langgraph.built import BuiltGraph
from agentmut.adapters.langgraph.chat_model import dropping, model_settings
from agentmut.adapters.langgraph.nested_tool_nodes import tool_nodes
from agentmut.adapters.langgraph.source import Form, GraphSource, checked
from agentmut.adapters.langgraph.version import installed
from agentmut.nouns import (
    Action,
    AgentConfig,
    AgentTrace,
    Flow,
    Mutant,
    Step,
    ToolSpec,
    read_tool,
    unreachable_fault,
)
from agentmut.project import check_tools
from agentmut.recording import Trial
from agentmut.seams import AgentKeys, AgentSpec, AsksAgent, ChoosesRoute, TakesKeys
from agentmut.trial import finds_offered_tools

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware

    from agentmut.adapters.langgraph.langchain_tools import bind_tools
    from agentmut.adapters.langgraph.langchain_trace import TraceHandler

__all__ = ["LangGraphAdapter", "bind_tools", "config_middleware", "model_settings"]
OLD_LIMIT = "recursion_limit"
_log = logging.getLogger(__name__)


def __getattr__(name: str) -> Any:
    """Import `bind_tools` on first use, because it needs LangChain."""
    if name != "bind_tools":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from agentmut.adapters.langgraph.langchain_tools import bind_tools

    return bind_tools


class LangGraphAdapter(AsksAgent, ChoosesRoute, TakesKeys):
    """Runs the graph that `agent.factory` names or builds.

    Where it takes no config of agentmut, mutants of prompt, tools and model are made of the model requests.
    """

    agent_keys: ClassVar[AgentKeys] = AgentKeys(
        "factory", "my_package.agent:build", frozenset({"route", "graph"})
    )

    def __init__(
        self,
        factory: Any,
        config: AgentConfig,
        name: str,
        original: AgentConfig | None = None,
        built: BuiltGraph | None = None,
        not_built: str = "",
    ) -> None:
        self._factory = factory
        self._source = GraphSource(factory, name)
        self._config = config
        self._name = name
        self._interceptable: frozenset[str] | AdapterError | None = None
        self._original = original or config
        self._built = built
        self._not_built = not_built

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> "LangGraphAdapter":
        """Import the factory; build the agent once to read its flow and, if the project names none, its tools.

        An agent that cannot be built has no flow to change: that is said in the log, and its runs will tell.
        """
        require_sdk("langgraph")
        if not spec.factory:
            raise UsageError("agent.factory is missing: adapter langgraph needs `factory: module:function`")
        factory = import_object(spec.factory, Path(spec.root))
        form = GraphSource(factory, spec.factory).form
        if spec.route == "rebuild" and form is not Form.CONFIG:
            raise UsageError(
                f"{spec.factory} is {form.value}, so no graph is built from a changed config (agent.route: rebuild). "
                "Mutants reach it on the wire (agent.route: wire). A function that builds the graph from agentmut's "
                "config could be built anew"
            )
        if OLD_LIMIT in config.orchestration:
            raise UsageError(
                f"agent.config.orchestration: {OLD_LIMIT!r} is now called 'max_steps'; rename it"
            )
        return cls(factory, config, spec.factory).as_built()

    def build(self) -> Any:
        """Return a fresh graph; raises `AdapterError` when the factory does, or returns something else."""
        try:
            seen = self._built.tools if self._built else None
            with dropping(self._original.model, self._config.model), seeing(seen):
                graph = self._source.build(self._config)
        except Exception as error:
            raise AdapterError(f"agent.factory {self._name} raised {described(error)}") from error
        return checked(graph, self._name)

    async def _build_async(self) -> Any:
        """Return a new graph for the event loop that it will run in."""
        try:
            seen = self._built.tools if self._built else None
            with dropping(self._original.model, self._config.model), seeing(seen):
                graph = await self._source.build_async(self._config)
        except Exception as error:
            raise AdapterError(f"agent.factory {self._name} raised {described(error)}") from error
        return checked(graph, self._name)

    @property
    def default_route(self) -> Literal["rebuild", "wire"]:
        """Return how mutants of prompt, tools and model reach the graph: by its factory, if it takes a config."""
        return "rebuild" if self._source.form is Form.CONFIG else "wire"

    def as_built(self) -> "LangGraphAdapter":
        """Return this adapter with the parts read from the graph; the project's config takes precedence."""
        try:
            graph = self.build()
        except AdapterError as error:
            return LangGraphAdapter(
                self._factory, self._config, self._name, self._original, not_built=str(error)
            )
        if stops := _breakpoints(graph):
            _log.warning(
                "runs of agent.factory %s stop at %s, and no turn makes them go on from there; compile the graph "
                "without, or let it ask with interrupt(), which the next turn answers",
                self._name,
                stops,
            )
        config = self._config.model_copy(update={"tools": self._config.tools or self._tools_of(graph)})
        built = BuiltGraph.from_graph(graph, config)
        return LangGraphAdapter(self._factory, built.completed(config), self._name, built=built)

    @property
    def not_built(self) -> str:
        """Return why the graph could not be asked for its tools and flow; empty if it could."""
        return self._not_built

    def get_config(self) -> AgentConfig:
        """Return the config of this adapter; missing tools and a missing flow are read from the graph."""
        return self._config

    def get_tools(self) -> tuple[ToolSpec, ...]:
        """Return the tools in the graph's tool nodes."""
        return self._tools_of(self.build())

    def _tools_of(self, graph: Any) -> tuple[ToolSpec, ...]:
        found: list[ToolSpec] = []
        for node in tool_nodes(graph):
            for tool in map(read_tool, node.tools_by_name.values()):
                if tool not in found:  # agents of one graph may share a tool
                    found.append(tool)
        try:
            return check_tools(found)
        except UsageError as error:
            raise AdapterError(f"the tools of agent.factory {self._name}: {error}") from error

    def with_config(self, config: AgentConfig) -> "LangGraphAdapter":
        """Return the same factory with another config."""
        return LangGraphAdapter(
            self._factory, config, self._name, self._original, self._built, self._not_built
        )

    def doubled_tools(self) -> frozenset[str]:
        """Return the tools in `ToolNode`s, where doubles can answer their calls."""
        return frozenset(name for node in tool_nodes(self.build()) for name in node.tools_by_name)

    def cannot_express(self, mutant: Mutant) -> str:
        """Return why a mutant cannot be expressed: faults need a tool node, and a flow must compile."""
        if self._built and (reason := self._built.cannot_become(mutant, self._config)):
            return reason
        try:
            return unreachable_fault(mutant, self._config, self._tools_in_nodes)
        except AdapterError as error:
            return f"the agent could not be built: {error}"

    def _tools_in_nodes(self) -> frozenset[str]:
        """Return `doubled_tools`, computed once, since building an agent for each of hundreds of mutants is slow."""
        if self._interceptable is None:
            try:
                self._interceptable = self.doubled_tools()
            except AdapterError as error:
                self._interceptable = error
        if isinstance(self._interceptable, AdapterError):
            raise self._interceptable
        return self._interceptable

    def versions(self) -> Mapping[str, str]:
        """Return versions of the packages that shape a run."""
        return installed()

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Run a new graph over the turns; later turns see the conversation so far, or the kept part of it."""
        from langsmith.run_helpers import tracing_context

        from agentmut.adapters.langgraph.doubles import withdrawing

        graph = await self._graph_for(trial)
        withdrawn = set(self._original.tool_names) - set(self._config.tool_names)
        # a campaign is nothing to report to LangSmith
        with (
            tracing_context(enabled=False),
            withdrawing(withdrawn),
        ):
            return trial.recorder.trace(await self._converse(graph, turns, trial))

    async def _graph_for(self, trial: Trial) -> Any:
        """Return a fresh graph with the trial's doubles, faults and flow."""
        from agentmut.adapters.langgraph.doubles import let_doubles_answer

        graph = await self._build_async()
        for node in tool_nodes(graph):
            let_doubles_answer(node)
        return self._built.changed(graph, self._config, trial) if self._built else graph

    async def _converse(self, graph: Any, turns: Sequence[JsonValue], trial: Trial) -> list[JsonValue]:
        """Return the graph's answer to each turn; after a question, the next turn is the reply."""
        from agentmut.adapters.langgraph.langchain_trace import TraceHandler

        handler = TraceHandler(trial.recorder, graph)
        options = self._options(handler)
        conversation = Conversation(self._config.history, bool(getattr(graph, "checkpointer", None)))
        outputs: list[JsonValue] = []
        state: Any = None
        for number, turn in enumerate(turns):
            handler.turn = number
            if number and conversation.altered:
                handler.forget()
                options = self._options(handler)  # a thread of its own, which knows of no earlier turn
                if conversation.shows_in(turn):
                    trial.recorder.marks.add("/history")
            given = conversation.graph_input(turn, turns[:number], outputs, _messages(state))
            if (asked := questions(state)) and not conversation.altered:
                given = reply(asked, turn, checkpointed=conversation.checkpointed)
            state = await graph.ainvoke(given, options)
            handler.end_turn()
            outputs.append(_output(state))
            trial.recorder.steps.append(
                Step(action=Action.RESPOND, turn=number, output=outputs[-1], started=trial.recorder.now())
            )
        return outputs

    def _options(self, handler: "TraceHandler") -> Any:
        options: dict[str, Any] = {
            "callbacks": [handler],
            "configurable": {"thread_id": uuid.uuid4().hex},  # a checkpointer must not join trials
        }
        limit = (
            self._built.limit(self._config)
            if self._built
            else Flow.from_orchestration(self._config.orchestration).max_steps
        )
        return options if limit is None else {**options, "recursion_limit": limit}


@finds_offered_tools
def config_middleware(config: AgentConfig) -> "AgentMiddleware[Any, Any]":
    """Return middleware for `create_agent` that makes every model request carry `config`.

    Prompt and documents become the system message, tools are offered as configured, and the model's name
    and settings are set; the agent's own code stays as it is. A setting that `config` leaves unset is the
    agent's own, unless the original config has it: then it is taken out, of the agent's own model as well.

    A factory must make its middleware anew in each call, and not keep it: which settings are to be taken out is
    known while the agent is being built, and to middleware that is made then.
    """
    require_sdk("langgraph")
    from agentmut.adapters.langgraph.langchain_middleware import ConfigMiddleware

    return ConfigMiddleware(config)


def _breakpoints(graph: Any) -> str:
    """Return the breakpoints that a graph was compiled with, in the form of `compile`."""
    found = {kind: getattr(graph, f"{kind}_nodes", ()) for kind in ("interrupt_before", "interrupt_after")}
    return " and ".join(
        f"{kind}={nodes if isinstance(nodes, str) else list(nodes)}" for kind, nodes in found.items() if nodes
    )


def _messages(state: Any) -> list[Any]:
    return list(state.get("messages", [])) if isinstance(state, Mapping) else []


def _output(state: Any) -> JsonValue:
    """Return the graph's question, else its structured output, else the text of the last message, else the state."""
    if asked := questions(state):
        return as_output(asked)
    if isinstance(state, Mapping) and state.get("structured_response") is not None:
        return jsonable(state["structured_response"])
    messages = _messages(state)
    if not messages:
        return jsonable(state)
    last = messages[-1]
    return "" if getattr(last, "type", "") in ("human", "system") else jsonable(_message_text(last))


def _message_text(message: Any) -> str:
    text = getattr(message, "text", "")
    return str(text() if inspect.ismethod(text) else text)


def questions(state: Any) -> Sequence[Any]:
    """Return the questions that a run stopped for; empty if it has ended."""
    return state.get("__interrupt__") or () if isinstance(state, Mapping) else ()


def as_output(asked: Sequence[Any]) -> JsonValue:
    """Return the graph's question; a list if it asked several at once."""
    found = [jsonable(question.value) for question in asked]
    return found[0] if len(found) == 1 else found


def reply(asked: Sequence[Any], turn: JsonValue, *, checkpointed: bool) -> Any:
    """Return the reply to a graph's questions: a list of as many replies answers them one by one.

    Raises `AdapterError` where nothing keeps the state in which the graph waits.
    """
    from langgraph.types import Command

    if not checkpointed:
        raise AdapterError(
            "the graph asks with interrupt(), but has no checkpointer, so that no further turn can reply to it; "
            "compile it with one, such as langgraph.checkpoint.memory.InMemorySaver()"
        )
    each = isinstance(turn, list) and len(asked) > 1 and len(turn) == len(asked)
    replies = turn if isinstance(turn, list) and each else [turn] * len(asked)
    return Command(resume={question.id: said for question, said in zip(asked, replies, strict=True)})
