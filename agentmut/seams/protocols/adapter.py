"""The protocol of an adapter, and the capabilities that an adapter can declare."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

from pydantic import Field, JsonValue, SecretStr

from agentmut._base import Frozen
from agentmut.nouns import AgentConfig, AgentTrace, Mutant, ToolSpec
from agentmut.recording import Trial
from agentmut.seams.capability import Capability


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
    intercept: bool | tuple[str, ...] = False
    """Whether TLS connections of a program to model services, and to further hosts, are intercepted."""
    route: Literal["rebuild", "wire"] | None = None
    """How mutants reach the agent; None leaves it to the adapter."""
    options: dict[str, JsonValue] = Field(default_factory=dict)
    """What only this adapter knows, such as which agent of a team is changed."""
    root: str = "."
    """Directory that `module:object` references are resolved from, and in which programs run."""

    @property
    def intercepted(self) -> tuple[str, ...] | None:
        """Return the further hosts that are intercepted; None without interception."""
        if self.intercept is False:
            return None
        return () if self.intercept is True else self.intercept


class AgentKeys(NamedTuple):
    """The keys of the agent section that an adapter takes, in addition to those of all adapters."""

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

    def get_config(self) -> AgentConfig:
        """Return the config this adapter runs."""

    def get_tools(self) -> tuple[ToolSpec, ...]:
        """Return the built agent's tools as the model gets them; the config may list other or fewer tools.

        Asked before a suite is refused for a tool that the config does not list. Raises `AdapterError` where the
        agent cannot be built.
        """

    def with_config(self, config: AgentConfig) -> "Adapter":
        """Return a new adapter that runs `config`."""

    def doubled_tools(self) -> frozenset[str]:
        """Return the names of the tools whose calls a double can answer."""

    def cannot_express(self, mutant: Mutant) -> str:
        """Return why this agent cannot run as that mutant, in a phrase; empty if it can."""

    def versions(self) -> Mapping[str, str]:
        """Return versions of the frameworks that shape a run; part of a trial's key."""

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Run the agent once, feeding it the turns in order."""


class AsksAgent(Capability, kind="adapters"):
    """The adapter asks the built agent for the tools and the flow that the project does not name."""

    @property
    @abstractmethod
    def not_built(self) -> str:
        """Return why the agent could not be asked, in a phrase; empty if it could."""


class RunsInThread(Capability, kind="adapters"):
    """The agent may run in a thread, where no call of it can be broken off that lets Python run nothing else."""

    @property
    @abstractmethod
    def in_thread(self) -> str:
        """Return what runs in a thread, as the subject of a sentence; empty if nothing does."""


class NeedsDoubles(Capability, kind="adapters"):
    """The agent may have tools without an implementation."""

    @property
    @abstractmethod
    def needs_doubles(self) -> frozenset[str]:
        """Return tools that every scenario has to double."""


class RunsOutside(Capability, kind="adapters"):
    """The agent runs in another process, and its model requests pass a proxy."""

    @property
    @abstractmethod
    def carries(self) -> frozenset[str]:
        """Return parts of the config that the adapter hands to the agent itself, as dotted paths such as `model.name`.

        All others are changed on the wire.
        """


class ChoosesRoute(Capability, kind="adapters"):
    """The adapter chooses how mutants reach the agent where the project names no route."""

    @property
    @abstractmethod
    def default_route(self) -> Literal["rebuild", "wire"]:
        """Return how mutants reach the agent."""


class KeepsWorkspace(Capability, kind="adapters"):
    """The agent works on files: it can run in a copy of a folder, where it reads its instructions itself."""


class KnowsOriginal(Capability, kind="adapters"):
    """The adapter keeps the config before any change: servers (MCP) may offer the agent tools at run time."""

    original: AgentConfig
    """The config before any change."""


class AsksNoModel(Capability, kind="adapters"):
    """A run of the agent asks no model, and so has no price."""


class AsksService(Capability, kind="adapters"):
    """The agent asks one service, whatever the model's provider."""

    service: ClassVar[str]
    """The service\'s name, as the list of services in `agentmut` has it."""


class KnowsApi(Capability, kind="adapters"):
    """The adapter knows which API its agent speaks."""

    @abstractmethod
    def cannot_say(self, mutant: Mutant) -> str:
        """Return the mutant's changed model setting that the API does not have, in a phrase; empty for none."""


class TakesKeys(Capability, kind="adapters"):
    """The adapter lists the keys of the agent section that it takes, so that it need not check them itself."""

    agent_keys: ClassVar[AgentKeys]
    """The keys; a class attribute, since they are read before an adapter is made."""
