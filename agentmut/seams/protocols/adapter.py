"""What an adapter looks like to the core, and what it may offer beside."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from pydantic import Field, JsonValue, SecretStr

from agentmut._base import Frozen
from agentmut.nouns import AgentConfig, AgentTrace, Mutant, ToolSpec
from agentmut.recording import Trial


class AgentSpec(Frozen):
    """How an adapter finds the agent: the `agent` section of the project file, without its config."""

    adapter: str
    factory: str | None = None
    run: str | None = None
    functions: str | None = None
    """`module:object`: the functions behind the tools of a ready tool loop."""
    api: Literal["chat_completions", "responses"] | None = None
    stream: bool = False
    command: tuple[str, ...] = ()
    """A program and its arguments; with `shell`, one command line."""
    shell: bool = False
    url: str | None = None
    method: str = "POST"
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    body: JsonValue = None
    answer: str | None = None
    """JSON pointer to the answer in what a program or a service gives back."""
    proxy_port: int | None = None
    route: Literal["rebuild", "wire"] | None = None
    """How mutants reach the agent; None leaves it to the adapter."""
    options: dict[str, JsonValue] = Field(default_factory=dict)
    """What only this adapter knows, such as which agent of a team is changed."""
    root: str = "."
    """Directory that `module:object` references are resolved from, and in which programs run."""


class AgentKeys(NamedTuple):
    """The keys of the agent section that an adapter takes, besides those that all take.

    An adapter that has them as its class attribute `agent_keys` need not check them itself.
    """

    needed: str | None
    example: str = ""
    others: frozenset[str] = frozenset()


@runtime_checkable
class Adapter(Protocol):
    """Turns a framework's agent into agentmut's. Built by `create(spec, config)`.

    `run` builds a fresh agent each time, so that no state passes from one trial to the next.
    """

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> "Adapter":
        """Check the spec, import what it names, and return an adapter. Raises `UsageError`."""
        ...

    def get_config(self) -> AgentConfig:
        """The config this adapter runs."""
        ...

    def get_tools(self) -> tuple[ToolSpec, ...]:
        """The tools of the built agent, as the model is told of them; its config may list others, or fewer.

        Asked before a suite is refused for a tool that the config does not list. Raises `AdapterError` where the
        agent cannot be built.
        """
        ...

    def with_config(self, config: AgentConfig) -> "Adapter":
        """A new adapter that runs `config`."""
        ...

    def doubled_tools(self) -> frozenset[str]:
        """Names of the tools whose calls can be answered by a double."""
        ...

    def cannot_express(self, mutant: Mutant) -> str:
        """Why this agent cannot be run as that mutant, in a phrase; empty when it can."""
        ...

    def versions(self) -> Mapping[str, str]:
        """Versions of the frameworks that shape a run; part of a trial's key."""
        ...

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Run the agent once, feeding it the turns in order."""
        ...


@runtime_checkable
class AsksAgent(Protocol):
    """What an adapter has besides, that asks the built agent for tools and flow which the project does not name."""

    @property
    def not_built(self) -> str:
        """Why the agent could not be asked, in a phrase; empty when it was."""
        ...


@runtime_checkable
class NeedsDoubles(Protocol):
    """What an adapter has besides whose agent may have tools with nothing behind them."""

    @property
    def needs_doubles(self) -> frozenset[str]:
        """Tools that every scenario has to double."""
        ...


@runtime_checkable
class RunsOutside(Protocol):
    """What an adapter has besides whose agent runs in another process: its model requests pass a proxy."""

    @property
    def carries(self) -> frozenset[str]:
        """Parts of the config that the adapter hands to the agent itself, as dotted paths such as `model.name`.

        All others are changed on the wire.
        """
        ...


@runtime_checkable
class ChoosesRoute(Protocol):
    """What an adapter has besides whose mutants reach the agent in a way of its own, where the project names none."""

    @property
    def default_route(self) -> Literal["rebuild", "wire"]:
        """How mutants reach the agent."""
        ...


@runtime_checkable
class KnowsOriginal(Protocol):
    """What an adapter has besides whose agent may have tools that servers offer it at run time (MCP)."""

    @property
    def original(self) -> AgentConfig:
        """The config before any change."""
        ...


@runtime_checkable
class AsksNoModel(Protocol):
    """What an adapter has besides whose runs ask no model, and so have no price."""

    @property
    def asks_no_model(self) -> Literal[True]:
        """Always."""
        ...


@runtime_checkable
class AsksService(Protocol):
    """What an adapter has besides whose agent asks one service, whatever the model's provider."""

    @property
    def service(self) -> str:
        """The service's name, as `agentmut._base.services` has it."""
        ...


@runtime_checkable
class KnowsApi(Protocol):
    """What an adapter has besides that knows which API its agent speaks."""

    def cannot_say(self, mutant: Mutant) -> str:
        """Which setting of the model that the mutant changes the API has no word for, in a phrase; empty for none."""
        ...
