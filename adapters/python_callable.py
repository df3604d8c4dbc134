"""Adapter for any Python callable: `run(config, input)` or `run(input)`, sync or async."""

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, TypeVar, get_args

from pydantic import BaseModel, JsonValue, PrivateAttr

from agentmut._base import UsageError, import_object, jsonable
from agentmut.adapters._shared.sdk_version import version_of
from agentmut.nouns import (
    Action,
    AgentConfig,
    AgentTrace,
    History,
    ModelConfig,
    Mutant,
    Step,
    ToolSpec,
    unreachable_fault,
)
from agentmut.recording import Trial, in_daemon_thread
from agentmut.seams import AgentKeys, AgentSpec, ChoosesRoute, KnowsOriginal, RunsInThread, TakesKeys
from agentmut.trial import MARK, calls_by_offered_name, passes_all_tools
from agentmut.wire import steps_from_exchanges


class CallableAdapter(ChoosesRoute, KnowsOriginal, RunsInThread, TakesKeys):
    """Calls `run(config, input)` or `run(input)`; the input is the turn, or a list of several turns.

    A function whose parameter for the input is annotated as a list gets a list of one turn, too. The function
    returns text, a JSON value or an `AgentTrace`. It may read `config` or ignore parts of it: what it reads is the
    witness when it makes no visible model request.
    """

    agent_keys: ClassVar[AgentKeys] = AgentKeys("run", "my_package.agent:run", frozenset({"route"}))

    def __init__(
        self,
        run: Any,
        config: AgentConfig,
        package: str = "",
        *,
        takes_config: bool = True,
        original: AgentConfig | None = None,
    ) -> None:
        self._run = run
        self._config = config
        self._package = package
        self._takes_config = takes_config
        self.original = config if original is None else original
        self._is_async = inspect.iscoroutinefunction(run) or inspect.iscoroutinefunction(
            getattr(run, "__call__", None)  # noqa: B004  (an object with an async __call__)
        )

    @classmethod
    def create(cls, spec: AgentSpec, config: AgentConfig) -> "CallableAdapter":
        """Import `agent.run` and check that it takes (config, input), or the input alone."""
        return cls.wrapping(spec, config)

    @classmethod
    def wrapping(cls, spec: AgentSpec, config: AgentConfig, package: str = "") -> Self:
        """Return the adapter of a function that calls models through `package`, an SDK, where that is known."""
        if not spec.run:
            raise UsageError("agent.run is missing: adapter python needs `run: module:function`")
        run = import_object(spec.run, Path(spec.root))
        if not callable(run):
            raise UsageError(f"agent.run: {spec.run} is a {type(run).__name__}, not a function")
        if inspect.isgeneratorfunction(run) or inspect.isasyncgenfunction(run):
            raise UsageError(
                f"agent.run: {spec.run} yields its answer in parts; return it as a whole instead"
            )
        takes_config = _takes_config(run, spec.run)
        if not takes_config and spec.route == "rebuild":
            raise UsageError(
                f"{spec.run} takes the input alone, so it cannot be built anew from a changed config. Mutants reach it "
                "on the wire only (agent.route: wire). A function that takes (config, input) could be built anew"
            )
        return cls(run, config, package, takes_config=takes_config)

    @property
    def in_thread(self) -> str:
        """Return the function's name, unless it is async."""
        name = getattr(self._run, "__qualname__", type(self._run).__name__)
        return "" if self._is_async else f"{name}, which is no async function,"

    @property
    def default_route(self) -> Literal["rebuild", "wire"]:
        """Return the wire for a function that does not take its config, or that calls an SDK with its own values."""
        return "wire" if self._package or not self._takes_config else "rebuild"

    def get_config(self) -> AgentConfig:
        """Return the config this adapter runs."""
        return self._config

    def get_tools(self) -> tuple[ToolSpec, ...]:
        """Return the tools of the config, since a callable has no other list of tools."""
        return self._config.tools

    def with_config(self, config: AgentConfig) -> Self:
        """Return the same function with another config."""
        return type(self)(
            self._run, config, self._package, takes_config=self._takes_config, original=self.original
        )

    def doubled_tools(self) -> frozenset[str]:
        """Return functions marked with `agentmut.tool` in the callable's module, and the tools of watched servers."""
        module = sys.modules.get(getattr(self._run, "__module__", ""), None)
        found = (_marked(value) for value in vars(module or object).values())
        served = self.original.tools if module is not None and passes_all_tools(module) else ()
        return frozenset((*(name for names in found for name in names), *(tool.name for tool in served)))

    def cannot_express(self, mutant: Mutant) -> str:
        """Return why a mutant cannot be expressed: faults need a place where calls pass."""
        if any(edit.pointer == "/history" and edit.after == History.SWAPPED for edit in mutant.edits):
            return "the function is given the user's turns in one call, and none of its answers"
        reason = unreachable_fault(mutant, self._config, self.doubled_tools)
        if reason:
            return f"{reason}; mark the functions with @agentmut.tool in the agent's module"
        return self._unknown_name(mutant)

    def _unknown_name(self, mutant: Mutant) -> str:
        """Return why calls of a tool that the mutant renames or adds would not find it."""
        new = any(
            edit.part == "tools" and (edit.path[-1] == "implemented_by" or edit.inserts_item)
            for edit in mutant.edits
        )
        module = sys.modules.get(getattr(self._run, "__module__", ""), None)
        if not new or (module is not None and calls_by_offered_name(module)):
            return ""
        return "the agent looks tools up by its own names; use agentmut.toolbox in the agent's module"

    def versions(self) -> Mapping[str, str]:
        """Return the SDK's, where one is known to take part."""
        return version_of(self._package) if self._package else {}

    async def run(self, turns: tuple[JsonValue, ...], trial: Trial) -> AgentTrace:
        """Call the function once; a blocking function runs in a separate thread.

        Where the history is dropped it gets the last turn alone, as it would if that were all that was said.
        """
        last = len(turns) - 1
        if last and self._config.history is History.DROPPED:
            turns = turns[-1:]
            trial.recorder.marks.add("/history")
        is_list = len(turns) > 1 or (_takes_list(self._run) and not isinstance(turns[0], list))
        return trace_of(await self.answer(list(turns) if is_list else turns[0], trial), trial, last)

    async def answer(self, value: Any, trial: Trial) -> Any:
        """Return what the function returns for an input."""
        view = recording_view(self._config, trial.recorder.config_reads)
        given = (view, value) if self._takes_config else (value,)
        if self._is_async:
            return await self._run(*given)
        answer = await in_daemon_thread(self._run, *given)
        # a plain function may return a coroutine
        return await answer if inspect.isawaitable(answer) else answer


def _takes_config(run: Any, name: str) -> bool:
    """Return whether a function takes (config, input), and not the input alone. Raises `UsageError` where neither fits.

    A second parameter that may be left out is none for the input, unless the first is said to be the config.
    """
    signature = inspect.signature(run)
    first = next(iter(signature.parameters.values()), None)
    said = first is not None and (first.name in _CONFIG_NAMES or "AgentConfig" in str(first.annotation))
    if not (_fits(signature, 2) or (_fits(signature, 1) and not said)):
        raise UsageError(
            f"agent.run: {name} must take (config, input), or the input alone; it takes {signature}"
        )
    return said or not _fits(signature, 1)


def _takes_list(run: Any) -> bool:
    """Return whether a function's last parameter without a default is annotated as a list."""
    needed = [one for one in inspect.signature(run).parameters.values() if one.default is one.empty]
    noted = needed[-1].annotation if needed else None
    said = noted.__name__ if isinstance(noted, type) and not get_args(noted) else str(noted)
    return _LIST.fullmatch(said) is not None


def _fits(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


_LIST = re.compile(r"(?:typing\.|collections\.abc\.)?(?:list|List|Sequence)(?:\[.*\])?")
_CONFIG_NAMES = frozenset({"config", "agent_config", "cfg", "_config", "_"})


def _marked(value: Any) -> Iterator[str]:
    for item in value if isinstance(value, list | tuple) else (value,):
        name = getattr(item, MARK, None)
        if isinstance(name, str):
            yield name


def trace_of(answer: Any, trial: Trial, turn: int) -> AgentTrace:
    """Return the trace of a run with this answer: steps as they were seen, unless the answer is a trace
    with its own.
    """
    recorder = trial.recorder
    if isinstance(answer, AgentTrace) and answer.steps:
        return answer
    seen = steps_from_exchanges(recorder.exchanges, with_tools=not recorder.steps)
    steps = sorted((*recorder.steps, *seen), key=lambda step: step.started)
    if isinstance(answer, AgentTrace):  # its own answer, with what was seen
        seconds = answer.seconds or recorder.now()
        return answer.model_copy(update={"steps": tuple(steps), "seconds": seconds})
    if answer is None:
        return AgentTrace(steps=tuple(steps), seconds=recorder.now())
    output = jsonable(answer)
    respond = Step(action=Action.RESPOND, turn=turn, output=output, started=recorder.now())
    return AgentTrace(steps=(*steps, respond), outputs=(output,), seconds=recorder.now())


Noun = TypeVar("Noun", bound=BaseModel)


class RecordingModel(ModelConfig):
    """A `ModelConfig` that notes which of its fields are read."""

    _reads: set[str] = PrivateAttr(default_factory=set)

    def __getattribute__(self, name: str) -> Any:
        if name in ModelConfig.model_fields:
            self._reads.add(f"model.{name}")
        elif name in _WHOLE:
            self._reads.add("model")
        return super().__getattribute__(name)


class RecordingConfig(AgentConfig):
    """An `AgentConfig` that notes which parts are read; writing the whole out counts as reading all."""

    _reads: set[str] = PrivateAttr(default_factory=set)

    def __getattribute__(self, name: str) -> Any:
        if name in _PARTS:
            self._reads.add(name)
        elif name in _WHOLE:
            self._reads.update(_PARTS, ("model",))
        return super().__getattribute__(name)


_WHOLE = frozenset({"__dict__", "__deepcopy__", "__reduce_ex__", "__getstate__"})
"""What dumping, copying, comparing, pickling, printing and iterating look up to get at every field."""
_PARTS = frozenset({"prompt", "tools", "context", "orchestration"})


def recording_view(config: AgentConfig, reads: set[str]) -> AgentConfig:
    """Return a config equal to `config` whose reads are noted in `reads` as dotted paths."""
    view = _noting(config, RecordingConfig, reads)
    fields = object.__getattribute__(view, "__dict__")
    fields["model"] = _noting(config.model, RecordingModel, reads)
    fields["digest"] = config.digest  # asking for it reads no part
    return view


def _noting(noun: Noun, kind: type[Noun], reads: set[str]) -> Noun:
    """Return a copy of a noun, of a class with the same fields that notes reads.

    Validating one takes ten times as long.
    """
    view = noun.__copy__()
    object.__setattr__(view, "__class__", kind)
    object.__setattr__(view, "__pydantic_private__", {"_reads": reads})
    return view
