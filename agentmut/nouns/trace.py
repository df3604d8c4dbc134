"""The trace of one run: steps, usage, outputs, and the ending."""

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from pydantic import JsonValue

from agentmut._base import Frozen, canonical_json, storable_json, texts_in
from agentmut.nouns.service_times import ServiceTime
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.workspace import WorkspaceEnd


class Action(StrEnum):
    """The kind of a step (Definition 3.2 of the AgentAssay paper)."""

    REASON = "reason"
    """A model call."""
    CALL_TOOL = "call_tool"
    RESPOND = "respond"
    """The answer to a turn."""


class Usage(Frozen):
    """Tokens, as the model service reports them."""

    input_tokens: int = 0
    """All of the input, what the service's prompt cache held included."""
    output_tokens: int = 0
    cached_tokens: int = 0
    """Input that was read from the service's prompt cache, at a lower price."""
    cache_written_tokens: int = 0
    """Input that was written to that cache, which some services charge more for."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cache_written_tokens=self.cache_written_tokens + other.cache_written_tokens,
        )

    @property
    def uncached(self) -> "Usage":
        """Return the same tokens without the service's prompt cache."""
        return Usage(input_tokens=self.input_tokens, output_tokens=self.output_tokens)

    @property
    def total(self) -> int:
        """Return input and output tokens together."""
        return self.input_tokens + self.output_tokens


class Step(Frozen):
    """One action of a run. Parallel tool calls are separate steps, distinguished by `call_id`."""

    action: Action
    turn: int = 0
    tool: str | None = None
    arguments: dict[str, JsonValue] | None = None
    output: JsonValue = None
    error: str | None = None
    model: str | None = None
    usage: Usage = Usage()
    usd: float | None = None
    """Cost in US dollars; None where the price of the model is unknown."""
    saved_usd: float = 0.0
    """What the service's prompt cache took off the cost, in US dollars; below 0 where writing to it cost more."""
    started: float = 0.0
    """Seconds since the run began."""
    seconds: float = 0.0
    node: str | None = None
    call_id: str | None = None


class Check(Frozen):
    """One evaluator's judgement of one trace."""

    evaluator: str
    passed: bool
    reason: str
    details: dict[str, JsonValue] | None = None
    """What lies behind it, for reports: the violations of a contract, what a model said of each criterion."""


class Judgement(Frozen):
    """The judgement of a trace while it was complete."""

    by: str
    """Digest of the evaluators as written."""
    checks: tuple[Check, ...]


class ForeignMark(Frozen):
    """The source of a run that another tool carried out and paid for."""

    source: str
    """The format, the file and the line, such as `tau_bench runs.json:12`."""
    digest: str
    """SHA-256 of the files that it was read from."""
    turns: tuple[JsonValue, ...] = ()
    """What the user said in this run: simulated and real users do not follow a scenario."""


class Recalled(Frozen):
    """A recorded reply of the original in a model's place: part of the run, and paid for only once."""

    model: str
    requests: int
    usage: Usage = Usage()
    usd: float | None = None
    """What these replies had cost; None where the price of the model is unknown."""


class _Bill(NamedTuple):
    """The sums over the steps of a run."""

    tokens: int
    cached_tokens: int
    usd: float
    saved_usd: float
    unpriced: tuple[Step, ...]
    """The model calls that were answered at an unknown price."""


class AgentTrace(Frozen):
    """A finished (or cut short) run. `outputs` has one answer per turn that was answered."""

    steps: tuple[Step, ...] = ()
    outputs: tuple[JsonValue, ...] = ()
    error: str | None = None
    seconds: float = 0.0
    setup_seconds: float = 0.0
    """What the scenario's setup took before the run began; no part of `seconds`."""
    exit_code: int | None = None
    """The exit code of an agent that is a program: negative after a signal, None where it was not seen to end."""
    stderr: str = ""
    """The end of what such a program wrote to stderr."""
    edges: tuple[tuple[str, str], ...] = ()
    """The edges that a run of a graph took, from node to node, in the order of the first time.

    Nodes of a graph in a node are named `outer/inner`, as in the steps; ends are `__start__` and `__end__`.
    """

    checks: tuple[Check, ...] = ()
    """What a suite that judges its own runs made of this one, by the name of the check."""
    judged: Judgement | None = None
    """The judgement of a trace that secrets were taken out of: such a trace cannot be judged any more."""
    service: ServiceTime | None = None
    """How long the run waited for model services; None in traces of before this was recorded."""
    foreign: ForeignMark | None = None
    """The source of a run that another tool carried out; None for a run of agentmut's own."""
    texts_cut: int = 0
    """Characters of its texts that were not kept, since they are more than the project's limits allow."""
    texts: str = ""
    """What the project file let be kept of its texts, `hashed` or `none`; empty where all of them are."""
    recalled: tuple[Recalled, ...] = ()
    """The model replies that a recorded run of the original gave, by model; empty for a trial that was live."""
    lost_usd: float = 0.0
    """US dollars of earlier attempts at the trial: they were no evidence, and their model calls were paid."""
    lost_tokens: int = 0
    """Tokens of these attempts."""
    workspace: WorkspaceEnd | None = None
    """What the run has left in its folder; None for an agent that has no such folder."""

    @cached_property
    def written(self) -> str:
        """Return the trace as JSON without defaults, as a store keeps it; it is also searched for secrets."""
        return storable_json(self, exclude_defaults=True)

    @cached_property
    def characters(self) -> int:
        """Return the characters of its texts: answers, arguments, results, errors."""
        size = len(self.error or "") + len(self.stderr) + sum(map(_size, self.outputs))
        for step in self.steps:
            size += len(step.error or "") + _size(step.arguments) + _size(step.output)
        return size + sum(map(len, self.workspace.texts)) if self.workspace else size

    @property
    def output(self) -> JsonValue:
        """Return the answer to the last turn; None if there is none."""
        return self.outputs[-1] if self.outputs else None

    @property
    def text(self) -> str:
        """Return the final output as text; structured output as JSON."""
        output = self.output
        if output is None:
            return ""
        return output if isinstance(output, str) else canonical_json(output)

    @property
    def tool_calls(self) -> tuple[Step, ...]:
        """Return the tool steps in the order of their starts."""
        return tuple(step for step in self.steps if step.action is Action.CALL_TOOL)

    @property
    def tools_called(self) -> tuple[str, ...]:
        """Return the names of the called tools, in order, with repeats."""
        return tuple([step.tool for step in self.steps if step.tool and step.action is Action.CALL_TOOL])

    def with_own_names(self, tools: Mapping[str, ToolSpec]) -> "AgentTrace":
        """Return the trace with each call under the agent's own name of the tool; `tools` are by offered name."""
        if not tools:
            return self
        own = {name: tool.own_name for name, tool in tools.items()}
        if not any(step.tool in own for step in self.steps):
            return self
        steps = (step.model_copy(update={"tool": own.get(step.tool or "", step.tool)}) for step in self.steps)
        return self.model_copy(update={"steps": tuple(steps)})

    @property
    def began(self) -> bool:
        """Return whether a model answered or a tool was called."""
        return any(step.action is not Action.REASON or step.error is None for step in self.steps)

    @cached_property
    def _bill(self) -> _Bill:
        """Add the steps up once: each finished trial is asked for its sums several times."""
        tokens, cached_tokens, usd, saved_usd = 0, 0, 0.0, 0.0
        unpriced = []
        for step in self.steps:
            tokens += step.usage.total
            cached_tokens += step.usage.cached_tokens
            saved_usd += step.saved_usd
            if step.action is Action.REASON:
                usd += step.usd or 0.0
                if step.usd is None and step.error is None:
                    unpriced.append(step)
        return _Bill(tokens, cached_tokens, usd, saved_usd, tuple(unpriced))

    @property
    def usage(self) -> Usage:
        """Return tokens of all model calls."""
        used = [step.usage for step in self.steps]
        return used[0] if len(used) == 1 else sum(used, Usage())

    @property
    def cached_tokens(self) -> int:
        """Return the input tokens that prompt caches held; 0 where a recorded run answered a part."""
        return 0 if self.recalled else self._bill.cached_tokens

    @property
    def usd(self) -> float | None:
        """Return the cost of the run in US dollars; None if an answered model call has no known price."""
        return None if self._bill.unpriced else self._bill.usd

    @property
    def cache_saved_usd(self) -> float:
        """Return what prompt caches took off the run's cost, in US dollars; 0 where a recorded run answered a part."""
        return 0.0 if self.recalled else self._bill.saved_usd

    @property
    def paid_usd(self) -> float | None:
        """Return `usd` without recorded replies and with earlier attempts, in US dollars; None where `usd` is None."""
        usd = self.usd
        if usd is None:
            return None
        if self.recalled:
            usd = max(0.0, usd - sum(part.usd or 0.0 for part in self.recalled))
        return usd + self.lost_usd

    @property
    def paid_tokens(self) -> int:
        """Return the tokens of the model calls that a service answered, in earlier attempts too."""
        used = self._bill.tokens
        if self.recalled:
            used = max(0, used - sum(part.usage.total for part in self.recalled))
        return used + self.lost_tokens

    @property
    def unpriced_models(self) -> frozenset[str]:
        """Return the names of the models that answered at an unknown price."""
        return frozenset(step.model or "" for step in self._bill.unpriced)

    @property
    def unreported_models(self) -> frozenset[str]:
        """Return the models without a price whose replies report no tokens."""
        return frozenset(step.model or "" for step in self._bill.unpriced if not step.usage.total)


def _size(value: JsonValue) -> int:
    """Return the characters of a value's texts; nearly every value is one text or nothing."""
    if value is None:
        return 0
    return len(value) if isinstance(value, str) else sum(map(len, texts_in(value)))


class Outcome(StrEnum):
    """The outcome of a trial. Only pass, fail and timeout are evidence about the agent."""

    PASS = "pass"
    FAIL = "fail"
    TIMEOUT = "timeout"
    """The agent was at work and ran out of time: counts as a failure."""
    INFRASTRUCTURE = "infrastructure"
    """The model service or the machine failed, after retries."""
    PRE_VALIDATION = "pre_validation"
    """Broken before the agent could work: setup failed, or the service refused the request as invalid."""
    EMPTY_RUN = "empty_run"
    """Nothing happened and nothing was returned."""
    NOT_JUDGED = "not_judged"
    """The agent ran, but a model that judges it could not be asked, or gave no judgement, after retries."""
    CUT = "cut"
    """A budget in money was used up while the agent was at work, so its next model call was not sent."""

    @property
    def is_evidence(self) -> bool:
        """Return whether the outcome enters a pass rate."""
        return self in (Outcome.PASS, Outcome.FAIL, Outcome.TIMEOUT)
