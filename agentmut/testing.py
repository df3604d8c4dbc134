"""Conformance tests for plugins of your own; call them from your tests."""

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agentmut.config import AgentConfig, Document, ModelConfig
from agentmut.errors import MutationError
from agentmut.mutant import Candidate, Edit, OperatorClass, Reach, apply_edits
from agentmut.plugins import Group
from agentmut.protocols import Example, Operator, OperatorOptions
from agentmut.signatures import signature_faults
from agentmut.tools import ToolSpec

SAMPLES: tuple[AgentConfig, ...] = (
    AgentConfig(
        prompt="You are a helpful desk.\n\n# Rules\n\n- Always verify the identity before a refund.\n"
        "- Never promise more than 30 days, unless a manager agrees.\n",
        tools=(
            ToolSpec(
                name="issue_refund",
                description="Refund an order.",
                parameters={
                    "type": "object",
                    "properties": {
                        "order_id": {"type": "string", "description": "Number of the order."},
                        "reason": {"type": "string", "enum": ["broken", "late"]},
                    },
                    "required": ["order_id"],
                },
            ),
            ToolSpec(name="look_up_order", description="Look up an order."),
        ),
        model=ModelConfig(name="large", temperature=0.7, max_tokens=800),
        context=(Document(name="policy.md", text="Refunds take 5 days. Returns are free."),),
        orchestration={"max_steps": 20},
    ),
    AgentConfig(prompt="Answer briefly.\r\nNever guess.\r\n"),
)
"""Configs that every operator is tried on, besides its examples and those given."""
_DEFAULTS = OperatorOptions()


def check_operator(
    operator: type[Operator], *configs: AgentConfig, options: OperatorOptions = _DEFAULTS
) -> None:
    """Check that a class is an operator that agentmut can rely on.

    It has the signature of its seam; its examples hold; an empty config has no mutants; the same config
    gives the same mutants, and stays as it is; every edit is where it says and changes something; what is
    left is a config whose tools still have valid schemas; candidates say what they do and can be told
    apart. Tried on its examples, on a few small configs, and on `configs`. Raises `AssertionError` with
    everything that is wrong.
    """
    faults = list(_declaration_faults(operator))
    if not faults:
        made = operator()
        faults += _example_faults(made)
        tried = [(config, options) for config in (*SAMPLES, *configs)]
        tried += [(example.config, example.options) for example in made.examples()]
        for number, (config, its_options) in enumerate(tried, start=1):
            faults += [f"config {number}: {fault}" for fault in _config_faults(made, config, its_options)]
    if faults:
        name = getattr(operator, "id", getattr(operator, "__name__", repr(operator)))
        raise AssertionError("\n- ".join([f"{name} is no sound operator:", *dict.fromkeys(faults)]))


def _declaration_faults(operator: type[Operator]) -> Iterator[str]:
    name = getattr(operator, "id", "")
    yield from signature_faults(operator, Group.OPERATORS, name)
    kind = getattr(operator, "operator_class", None)
    if not isinstance(kind, OperatorClass):
        yield f"its operator_class is {kind!r}; expected one of {', '.join(OperatorClass)}"
    elif not str(name).startswith(f"{kind.value}.") or str(name).count(".") != 1:
        yield f"its id is {name!r}; expected {kind.value}.name, after its class"
    why = getattr(operator, "why", "")
    if not str(why).strip() or "\n" in str(why):
        yield "why must say in one line how this happens in practice"


def _example_faults(operator: Operator) -> Iterator[str]:
    examples = list(operator.examples())
    if not examples:
        yield "it has no example"
    for number, (config, first, options) in enumerate(examples, start=1):
        candidate = next(iter(operator.mutants(config, options)), None)
        if candidate is None:
            yield f"example {number}: there is no mutant"
        elif isinstance(result := _applied(config, candidate), str):
            yield f"example {number}: {result}"
        elif result != first:
            yield f"example {number}: the first mutant is {result!r}, expected {first!r}"
    if list(operator.mutants(AgentConfig(), OperatorOptions())):
        yield "an empty config has mutants"


def _config_faults(operator: Operator, config: AgentConfig, options: OperatorOptions) -> Iterator[str]:
    before = config.model_copy(deep=True)
    random_state = random.getstate()
    candidates = list(operator.mutants(config, options))
    if random.getstate() != random_state:
        yield "it draws from the global random generator; make choices by what the config says"
    if config != before:
        yield "it changed the config that it was given"
    if candidates != list(operator.mutants(before, options)):
        yield "the same config gave other mutants the second time"
    for candidate in candidates:
        yield from _candidate_faults(operator, config, candidate)
    yield from _repetitions(candidates)


def _candidate_faults(operator: Operator, config: AgentConfig, candidate: Candidate) -> Iterator[str]:
    said = f"candidate {candidate.description!r}"
    if not candidate.description.strip() or "\n" in candidate.description:
        yield f"{said}: the description must be one line"
    if not candidate.anchor.strip():
        yield f"{said}: the anchor must name the place, so that its id is its own"
    result = _applied(config, candidate)
    if isinstance(result, str):
        yield f"{said}: {result}"
        return
    yield from (f"{said}: {fault}" for fault in _about_faults(config, candidate))
    if result == config:
        yield f"{said}: it leaves the config as it is"
    yield from (f"{said}: {fault}" for fault in _schema_faults(result.tools, config.tools))
    if operator.reach in (Reach.CALLED, Reach.REPEATED) and candidate.subject not in {
        tool.own_name for tool in config.tools
    }:
        yield f"{said}: its subject is {candidate.subject!r}, no tool that a scenario could call"


def _applied(config: AgentConfig, candidate: Candidate) -> AgentConfig | str:
    for edit in candidate.edits:
        if edit.span is not None and not _is_range(edit):
            return f"the span {edit.span} of {edit.pointer} is no range of characters"
    try:
        return apply_edits(config, candidate.edits)
    except MutationError as error:
        return str(error)


def _about_faults(config: AgentConfig, candidate: Candidate) -> Iterator[str]:
    plain = config.model_dump(mode="json") if candidate.about else {}
    for about in candidate.about:
        value: Any = plain
        try:
            for part in about.path:
                value = value[int(part)] if isinstance(value, list) else value[part]
        except (KeyError, IndexError, ValueError, TypeError):
            yield f"it is about {about.pointer}, which the config does not have"
            continue
        start, end = about.span or (0, 0)
        if about.span is not None and not (isinstance(value, str) and 0 <= start <= end <= len(value)):
            yield f"it is about the characters {start} to {end} of {about.pointer}, which it does not have"


def _is_range(edit: Edit) -> bool:
    start, end = edit.span or (0, 0)
    return 0 <= start <= end


def _schema_faults(tools: Sequence[ToolSpec], before: Sequence[ToolSpec]) -> Iterator[str]:
    from jsonschema import Draft202012Validator, SchemaError

    for tool in tools:
        if tool not in before:
            try:
                Draft202012Validator.check_schema(tool.parameters)
            except SchemaError as error:
                yield f"the parameters of {tool.name} are no JSON Schema any more: {error.message}"


def _repetitions(candidates: Iterable[Candidate]) -> Iterator[str]:
    seen: dict[str, str] = {}
    for candidate in candidates:
        key = candidate.model_dump_json(include={"edits"})
        if key in seen:
            yield f"candidates {seen[key]!r} and {candidate.description!r} are the same edits"
        seen[key] = candidate.description


__all__ = ["SAMPLES", "Example", "check_operator"]
