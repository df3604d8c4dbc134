"""The base of agents outside this process: their model requests pass a proxy, which is all that agentmut sees."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import urlsplit

from pydantic import JsonValue

from agentmut._base import UsageError, at_path, jsonable, nearest
from agentmut.adapters._shared.outside.placeholders import check_names, names_in, parts_by_name
from agentmut.adapters._shared.outside.templates import endpoint_names
from agentmut.nouns import Action, AgentConfig, AgentTrace, Edit, Mutant, Step, ToolSpec
from agentmut.recording import Trial
from agentmut.seams import AgentSpec, KnowsOriginal, RunsOutside
from agentmut.wire import steps_from_exchanges

CONFIG_FILE = "config_file"
SERVED = "mcp_tools"
"""The key of `agent.options` which says that servers offer the agent its tools, and that agentmut meets them there."""
TOLD_BY_FILE = frozenset({"prompt", "model", "context", "orchestration"})
"""Parts that a program which is given the config as a file takes from it."""


@dataclass(frozen=True)
class OutsideAgent(KnowsOriginal, RunsOutside):
    """An agent that gets parts of its config by placeholders, and all other parts by changes of its requests.

    Tools are told as they are in the project, and changed in the requests alone: there calls of renamed tools are
    mapped back, and results go wrong. The same holds for the turns of a conversation.
    """

    spec: AgentSpec
    config: AgentConfig
    original: AgentConfig
    names: frozenset[str]
    """The placeholders that it is told."""

    def get_config(self) -> AgentConfig:
        """Return the config this adapter runs."""
        return self.config

    def get_tools(self) -> tuple[ToolSpec, ...]:
        """Return the tools of the config; the agent's own offer shows only when it runs."""
        return self.config.tools

    def with_config(self, config: AgentConfig) -> Self:
        """Return the same agent with another config."""
        return replace(self, config=config)

    def doubled_tools(self) -> frozenset[str]:
        """Return the tools of tool servers; calls of other tools stay in the agent's process."""
        return frozenset(self.original.tool_names) if self.served else frozenset()

    def versions(self) -> Mapping[str, str]:
        """Return no versions: no framework of this process takes part."""
        return {}

    @property
    def carries(self) -> frozenset[str]:
        """Return the parts of the config that the agent gets by placeholders, as dotted paths."""
        named = {name for name in self.names if name in parts_by_name(self.original)}
        by_file = TOLD_BY_FILE if CONFIG_FILE in self.names else frozenset()
        own = frozenset(name for name in named if name.partition(".")[0] != "tools") | by_file
        return own | {"tools"} if self.served else own

    @property
    def served(self) -> bool:
        """Return whether tool servers offer the agent its tools, so that changes reach the agent there."""
        return self.spec.options.get(SERVED) is True

    def cannot_express(self, mutant: Mutant) -> str:
        """Return why the agent cannot be given a mutant: no request shows the flow, or an unset part has no value.

        Earlier turns are changed in the requests alone, which have them as they were said.
        """
        for edit in mutant.edits:
            if edit.part == "history":
                return "the agent is given all turns at once"
            path = ".".join(edit.path)
            if edit.part == "orchestration" and not self._tells(path):
                key = ".".join(edit.path[:2])
                where = "in agent.command, or {config_file}" if self.spec.command else "in agent.body"
                return f"the agent is not told {key}: name {{{key}}} {where}"
            if unset := self._unset_by(edit, path):
                return f"{{{unset}}} would stand for nothing"
        return ""

    def _tells(self, path: str) -> bool:
        return any(path == told or path.startswith(f"{told}.") for told in self.carries)

    def _unset_by(self, edit: Edit, path: str) -> str:
        """Return the placeholder that an edit leaves without a value."""
        if edit.span is not None or edit.part == "tools":
            return ""
        below = {name: name.removeprefix(path) for name in self.names if f"{name}.".startswith(f"{path}.")}
        unset = (
            name for name, rest in below.items() if at_path(edit.after, tuple(rest.split(".")[1:])) is None
        )
        return next(unset, "")

    @property
    def place(self) -> str:
        """Return the address of the agent without possible secrets."""
        url = urlsplit(self.spec.url or "")
        return f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}"

    def values(self) -> dict[str, JsonValue]:
        """Return the values of all parts that placeholders may name."""
        return parts_by_name(self.told_config())

    def told_config(self) -> AgentConfig:
        """Return the config in the form that the agent gets."""
        own = {"tools": self.original.tools, "history": self.original.history}
        return self.config.model_copy(update=own)


def check_options(spec: AgentSpec, config: AgentConfig, others: Sequence[str] = ()) -> None:
    """Raise `UsageError` for `agent.options` that an outside agent does not have; `others` are checked elsewhere."""
    for name, value in spec.options.items():
        if name not in (SERVED, *others):
            raise UsageError(f"agent.options: unknown key {name!r}. {nearest(name, (SERVED, *others))}")
        if name == SERVED and not isinstance(value, bool):
            raise UsageError(f"agent.options.{SERVED} is true or false, not {value!r}")
    if spec.options.get(SERVED) and not config.tools:
        raise UsageError(f"agent.options.{SERVED}: list the tools of the servers in agent.config.tools")


def placeholders_in(
    templates: Iterable[tuple[str, str]], config: AgentConfig, own: Sequence[str]
) -> frozenset[str]:
    """Return the placeholders of texts, each given with its place. Raise `UsageError` for an unknown placeholder.

    `own` are those that the adapter fills besides parts of the config and addresses of model services.
    """
    names: set[str] = set()
    for where, text in templates:
        used = names_in(text, where)
        check_names(used, config, (*own, *endpoint_names()), where)
        names.update(used)
    return frozenset(names)


def record_steps(trial: Trial) -> None:
    """Record the steps of a run that has ended in any way.

    Calls that tool servers met are known already, with true times and errors; model requests say what they were for.
    """
    recorder = trial.recorder
    met = [step for step in recorder.steps if step.action is Action.CALL_TOOL]
    rest = [step for step in recorder.steps if step.action is not Action.CALL_TOOL]
    for seen in steps_from_exchanges(recorder.exchanges, with_tools=True):
        same = next((step for step in met if _is_same_call(step, seen, trial)), None)
        if same:
            met.remove(same)
            rest.append(
                same.model_copy(update={name: getattr(seen, name) for name in ("turn", "node", "call_id")})
            )
        else:
            rest.append(seen)
    recorder.steps[:] = [*rest, *met]


def _is_same_call(met: Step, seen: Step, trial: Trial) -> bool:
    if seen.action is not Action.CALL_TOOL or seen.tool is None:
        return False
    return met.tool in (seen.tool, trial.own_name(seen.tool)) and met.arguments == seen.arguments


def outside_trace(answer: JsonValue, trial: Trial, turn: int) -> AgentTrace:
    """Return the trace of a run that answered."""
    recorder = trial.recorder
    output = jsonable(answer)
    respond = Step(action=Action.RESPOND, turn=turn, output=output, started=recorder.now())
    return AgentTrace(
        steps=(*recorder.timeline(), respond),
        outputs=() if output is None else (output,),
        seconds=recorder.now(),
        exit_code=recorder.exit_code,
        stderr=recorder.stderr,
    )


def as_input(turns: tuple[JsonValue, ...]) -> JsonValue:
    """Return the agent's input: the turn, or a list of several turns."""
    return turns[0] if len(turns) == 1 else list(turns)
