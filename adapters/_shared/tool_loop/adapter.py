"""The base of the adapters with a ready tool loop."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import JsonValue

from agentmut._base import AdapterError, UsageError, import_object, nearest
from agentmut.adapters._shared.sdk_version import version_of
from agentmut.adapters._shared.tool_loop.dialect import Dialect, unsaid
from agentmut.adapters._shared.tool_loop.loop import MAX_STEPS, ToolLoop
from agentmut.nouns import CHANGED, AgentConfig, AgentTrace, Flow, Mutant, ToolSpec, apply_edits, read_tool
from agentmut.project import check_tools
from agentmut.recording import Trial
from agentmut.seams import AgentSpec, AsksAgent, ChoosesRoute, KnowsApi, NeedsDoubles
from agentmut.trial import Function, toolbox

_LIMIT = "max_steps"


class LoopAdapter(AsksAgent, ChoosesRoute, KnowsApi, NeedsDoubles):
    """Runs prompt, tools and model of the config in a tool loop of agentmut's own.

    Each run has a conversation of its own. Runs share connections to the service and nothing else, so every part of
    the config can be changed by building the agent anew.
    """

    default_route: Literal["rebuild", "wire"] = "rebuild"

    def __init__(
        self,
        dialect: Dialect,
        functions: Mapping[str, Function],
        config: AgentConfig,
        original: AgentConfig | None = None,
    ) -> None:
        self._dialect = dialect
        self._functions = functions
        self._config = config if original else _completed(config, functions)
        self._original = original or self._config

    @classmethod
    def checked(cls, dialect: Dialect, spec: AgentSpec, config: AgentConfig) -> Self:
        """Return the adapter, after a look at everything that can be wrong with the section. Raises `UsageError`."""
        if not config.model.name:
            raise UsageError(
                f"agent.config.model.name is missing: adapter {spec.adapter} needs to know which model to ask"
            )
        if refusal := dialect.refuses(config.model):
            raise UsageError(f"agent.config.model: {refusal}")
        return cls.of_functions(dialect, spec, config)

    @classmethod
    def of_functions(cls, dialect: Dialect, spec: AgentSpec, config: AgentConfig) -> Self:
        """Return the adapter, after a look at the flow and the functions. Raises `UsageError`."""
        others = sorted(set(config.orchestration) - {_LIMIT})
        if others:
            raise UsageError(
                f"agent.config.orchestration: {others[0]!r} is nothing that adapter {spec.adapter} carries out; "
                f"its loop has {_LIMIT} only"
            )
        return cls(dialect, _read_functions(spec), config)

    def get_config(self) -> AgentConfig:
        """Return the config of this adapter; missing tools and a missing limit come from the loop."""
        return self._config

    def get_tools(self) -> tuple[ToolSpec, ...]:
        """Return the tools of the config with the full description that the model gets."""
        return self._config.tools

    def with_config(self, config: AgentConfig) -> Self:
        """Return the same functions with another config."""
        return type(self)(self._dialect, self._functions, config, self._original)

    @property
    def not_built(self) -> str:
        """Return an empty text: the tools are known without building the agent."""
        return ""

    def doubled_tools(self) -> frozenset[str]:
        """Return every tool: the loop itself makes the calls."""
        return frozenset(tool.own_name for tool in self._config.tools)

    @property
    def needs_doubles(self) -> frozenset[str]:
        """Return the tools without a function, which only a scenario's double can answer."""
        return self.doubled_tools() - set(self._functions)

    def cannot_express(self, mutant: Mutant) -> str:
        """Return the settings that the API does not have."""
        edits = [edit for edit in mutant.edits if edit.part == "model"]
        return self._dialect.refuses(apply_edits(self._config, edits).model) if edits else ""

    def cannot_say(self, mutant: Mutant) -> str:
        """Return settings that requests have no word for."""
        return unsaid(self._dialect.refuses, self._original.model, mutant)

    def versions(self) -> Mapping[str, str]:
        """Return the SDK's version."""
        return version_of(self._dialect.package)

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Converse over the turns; later turns see the conversation so far, or the kept part of it."""
        limit = _limit(self._config)
        if limit != _limit(self._original):
            trial.recorder.marks |= {f"/orchestration/{_LIMIT}", CHANGED}
        loop = ToolLoop(self._dialect, self._tools_of(trial), self._config, limit, trial)
        return trial.recorder.trace(await loop.outputs(turns))

    def _tools_of(self, trial: Trial) -> dict[str, Function]:
        """Return the function of each tool, by the name that the model knows."""
        original = {tool.own_name for tool in self._original.tools}
        absent = original - set(self._functions)
        if missing := sorted(absent - set(trial.doubles)):
            raise AdapterError(_no_function(missing[0], self._functions))
        stand_ins = {name: _only_doubled(name) for name in absent}
        return toolbox(self._config, {**self._functions, **stand_ins})


def _completed(config: AgentConfig, functions: Mapping[str, Function]) -> AgentConfig:
    """Return the config with the functions as tools if it has none, and with the loop's limit."""
    tools = config.tools or tuple(
        read_tool(function).model_copy(update={"name": name}) for name, function in functions.items()
    )
    return config.model_copy(
        update={"tools": check_tools(tools), "orchestration": {_LIMIT: MAX_STEPS, **config.orchestration}}
    )


def _limit(config: AgentConfig) -> int:
    return Flow.from_orchestration(config.orchestration).max_steps or MAX_STEPS


def _read_functions(spec: AgentSpec) -> dict[str, Function]:
    """Return the functions by name; empty if the section names none. Raise `UsageError`."""
    if spec.functions is None:
        return {}
    found = import_object(spec.functions, Path(spec.root))
    functions = dict(_named(found, spec.functions))
    for name, function in functions.items():
        if not callable(function) or isinstance(function, type):
            raise UsageError(
                f"agent.functions: {name!r} of {spec.functions} is a {type(function).__name__}, not a function"
            )
    return functions


def _named(found: Any, reference: str) -> Iterable[tuple[str, Any]]:
    if isinstance(found, Mapping):
        return [(str(name), function) for name, function in found.items()]
    if isinstance(found, list | tuple):
        pairs = [(getattr(f, "__name__", repr(f)), f) for f in found]
        names = [name for name, _ in pairs]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise UsageError(f"agent.functions: {reference} has more than one function named {twice[0]!r}")
        return pairs
    raise UsageError(
        f"agent.functions: {reference} is a {type(found).__name__}; expected a list of functions, or a mapping "
        "from names of tools to functions"
    )


def _no_function(tool: str, functions: Iterable[str]) -> str:
    return (
        f"the tool {tool!r} has no function (agent.functions), and the scenario does not double it. "
        f"{nearest(tool, functions)}"
    )


def _only_doubled(name: str) -> Callable[..., Any]:
    """Return the function of a tool that always has a double; the function is never called."""

    def call(**arguments: Any) -> Any:
        raise AdapterError(_no_function(name, ()))

    call.__name__ = name
    return call
