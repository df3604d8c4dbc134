"""Mutants by the wire: the agent stays unchanged, and its model requests are rewritten.

What no request shows stays with the agent: its flow always, and faults of tools and the history where its adapter
can carry them out itself.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from pydantic import JsonValue

from agentmut.nouns import AgentConfig, AgentTrace, Edit, Intent, Mutant, OperatorClass, Reach, ToolSpec
from agentmut.recording import Rewriter, Trial
from agentmut.seams import Adapter, AgentSpec, AsksAgent, ChoosesRoute, KnowsApi, RunsOutside
from agentmut.wire import ConfigRewriter

OUTSIDE = (
    "hand it over: a program has its config with `{config_file}` in agent.command, and any agent elsewhere a part of "
    "it, such as `{model.temperature}`, in agent.command, agent.body, agent.headers or agent.url"
)

REQUESTS = "requests"
"""What a `Remedy` is asked for where no request was seen at all."""
SENT_OUTSIDE = (
    "The program or service has to send them to the base URL that its environment names (OPENAI_BASE_URL, "
    "ANTHROPIC_BASE_URL and so on). Where its code has a fixed https address: `agent: {intercept: true}`, which leads "
    "a program here by HTTPS_PROXY. Neither reaches a program that ignores these variables, or asks a socket file"
)
SENT_HERE = (
    "In this process agentmut sees what clients of httpx, httpx2, requests, aiohttp and botocore send in the run's own "
    "thread, tasks and pools, and in threads that the run starts. Where another client sends them, or a thread that is "
    "older than the run, run the agent as a program (`adapter: command`). `agentmut doctor` tells what it does instead"
)


PASSING = ("transcript", "reply")
"""Parts of a config that no agent has: they are changed where requests and replies pass, by every route."""


def routed(adapter: Adapter, spec: AgentSpec) -> Adapter:
    """Return the adapter for a project's route to mutants, or for the adapter's own default route."""
    default = "wire" if isinstance(adapter, RunsOutside) else "rebuild"
    chosen = adapter.default_route if isinstance(adapter, ChoosesRoute) else default
    return OnWire(adapter, adapter.get_config()) if (spec.route or chosen) == "wire" else adapter


def inside(adapter: Adapter) -> Adapter:
    """Return the adapter that runs the agent, without its wrappers."""
    return adapter.agent if isinstance(adapter, OnWire) else adapter


def on_model(adapter: Adapter, model: str) -> Adapter:
    """Return the adapter of the same agent with another model: rebuilt with it, or renamed on the wire.

    Raises `AdapterError` where the adapter cannot build the agent with that model.
    """
    config = adapter.get_config()
    return adapter.with_config(
        config.model_copy(update={"model": config.model.model_copy(update={"name": model})})
    )


def as_mutant(adapter: Adapter, base: AgentConfig, config: AgentConfig) -> Adapter:
    """Return the agent of `config`, a mutant of `base`."""
    if isinstance(adapter, OnWire):
        return OnWire(adapter.agent.with_config(adapter.as_asked(base)), config)
    passing = {name: getattr(config, name) for name in PASSING}
    if passing == {name: getattr(base, name) for name in PASSING}:
        return adapter.with_config(config)
    built = adapter.with_config(config.model_copy(update={name: getattr(base, name) for name in PASSING}))
    return OnWire(built, built.get_config().model_copy(update=passing))


def remedy_on_wire(adapter: Adapter) -> "Remedy | None":
    """Return how to tell the agent a part of its config, where mutants are made of requests; None otherwise."""
    return adapter.how_to_tell if isinstance(adapter, OnWire) else None


Remedy = Callable[[str], str]
"""What to do, in a phrase, so that the agent has a part of its config from its adapter."""


class OnWire(AsksAgent):
    """An adapter whose mutants are made of its agent's model requests.

    It is an `Adapter` itself; to run a trial takes `agent`, and a new `rewriter()`.
    """

    def __init__(self, original: Adapter, config: AgentConfig) -> None:
        self._original = original
        self._base = original.get_config()
        self._config = config

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> "OnWire":
        """Refuse: `OnWire` is made from an adapter."""
        raise TypeError("wrap an adapter with agentmut.trial.on_wire.routed")

    @cached_property
    def agent(self) -> Adapter:
        """Return the agent with the changes that it has to carry out itself."""
        own = self._split[0]
        return self._original if own == self._base else self._original.with_config(own)

    def rewriter(self) -> Rewriter | None:
        """Return the rewriter of one trial's requests; None if no request changes."""
        rest = self._split[1]
        return None if rest == self._base else ConfigRewriter(self._base, rest)

    def as_asked(self, config: AgentConfig) -> AgentConfig:
        """Return the config with the model that the agent's own requests name, which may be changed on the wire."""
        return _with_part(config, "model.name", self._original.get_config())

    @cached_property
    def _split(self) -> tuple[AgentConfig, AgentConfig]:
        """Return the config for the agent, and the config that its requests have to show."""
        own, rest = self._base, self._config
        for path in self._own_paths():
            own = _with_part(own, path, self._config)
            rest = _with_part(rest, path, self._base)
        faults = {t.own_name: t.fault for t in self._config.tools if t.own_name in self._faulty_here}
        return _with_faults(own, faults), _with_faults(rest, dict.fromkeys(faults))

    def _own_paths(self) -> frozenset[str]:
        carried = self._original.carries if isinstance(self._original, RunsOutside) else frozenset()
        history = {"history"} if self._turns_here else set()
        return frozenset({"orchestration", *history, *carried})

    @cached_property
    def _turns_here(self) -> bool:
        """Return whether the agent's adapter can itself replace earlier turns."""
        before, after = self._base.history, self._config.history
        if before == after:
            return False
        return not self._original.cannot_express(_history_mutant(before, after))

    @cached_property
    def _faulty_here(self) -> frozenset[str]:
        """Return the tools whose faults the agent's adapter carries out, so that the wire leaves their calls alone."""
        faulty = {tool.own_name for tool in self._config.tools if tool.fault} & set(self._base.tool_names)
        return self._original.doubled_tools() & faulty if faulty else frozenset()

    def get_config(self) -> AgentConfig:
        """Return the config of the mutant."""
        return self._config

    def get_tools(self) -> tuple[ToolSpec, ...]:
        """Return the tools of the built agent."""
        return self._original.get_tools()

    def with_config(self, config: AgentConfig) -> "OnWire":
        """Return the same agent as another mutant."""
        return OnWire(self._original, config)

    def doubled_tools(self) -> frozenset[str]:
        """Return tools whose calls the agent's adapter can intercept."""
        return self._original.doubled_tools()

    def cannot_express(self, mutant: Mutant) -> str:
        """Return which part of a mutant neither the requests nor the agent itself can carry out, in a phrase."""
        paths = self._own_paths()
        own = tuple(edit for edit in mutant.edits if any(_is_about(edit, path) for path in paths))
        if own and (reason := self._original.cannot_express(mutant.model_copy(update={"edits": own}))):
            return reason
        return self._original.cannot_say(mutant) if isinstance(self._original, KnowsApi) else ""

    @property
    def not_built(self) -> str:
        """Return why the agent could not be asked for its tools and flow; an empty text otherwise."""
        return self._original.not_built if isinstance(self._original, AsksAgent) else ""

    def how_to_tell(self, part: str) -> str:
        """Return how the agent can get a part of its config from its adapter; for `REQUESTS`, how they can be seen."""
        if part == REQUESTS:
            return SENT_OUTSIDE if isinstance(self._original, RunsOutside) else SENT_HERE
        if isinstance(self._original, RunsOutside):
            return OUTSIDE
        if isinstance(self._original, ChoosesRoute) and self._original.default_route == "wire":
            return f"let agent.run take (config, input), set `agent.route: rebuild`, and build the {part} from it"
        return f"leave agent.route out, and build the {part} from the config that the agent is given"

    def versions(self) -> Mapping[str, str]:
        """Return the versions of the frameworks that shape a run."""
        return self._original.versions()

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Run the agent; the trial's rewriter changes its requests."""
        return await self.agent.run(turns, trial)


def _is_about(edit: Edit, path: str) -> bool:
    """Return whether an edit changes something of the part at a dotted path, or all of what that is in."""
    edited = ".".join(edit.path)
    return f"{edited}.".startswith(f"{path}.") or path.startswith(f"{edited}.")


def _with_part(config: AgentConfig, path: str, source: AgentConfig) -> AgentConfig:
    """Return `config` with one part, such as `model.name`, taken from `source`."""
    part, _, key = path.partition(".")
    ours, theirs = getattr(config, part), getattr(source, part)
    if not key:
        return config.model_copy(update={part: theirs})
    if isinstance(ours, dict):
        given = {key: theirs[key]} if key in theirs else {}
        return config.model_copy(update={part: {k: v for k, v in ours.items() if k != key} | given})
    return config.model_copy(update={part: ours.model_copy(update={key: getattr(theirs, key)})})


def _with_faults(config: AgentConfig, faults: Mapping[str, Any]) -> AgentConfig:
    """Return the config with these faults of tools, by the tools' own names."""
    if not faults:
        return config
    tools = (
        tool.model_copy(update={"fault": faults[tool.own_name]}) if tool.own_name in faults else tool
        for tool in config.tools
    )
    return config.model_copy(update={"tools": tuple(tools)})


def _history_mutant(before: JsonValue, after: JsonValue) -> Mutant:
    return Mutant(
        id="",
        operator="context.history",
        version=1,
        operator_class=OperatorClass.CONTEXT,
        intent=Intent.DEGRADE,
        reach=Reach.CONVERSED,
        description="other earlier turns",
        edits=(Edit(pointer="/history", before=before, after=after),),
    )
