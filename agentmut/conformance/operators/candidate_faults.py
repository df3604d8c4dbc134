"""What is wrong with the candidates that an operator made of a config, and whether it is a pure function of it."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from agentmut._base import MutationError, PluginError, UsageError, at_path, ends_in_common
from agentmut.mutation import candidates
from agentmut.nouns import AgentConfig, Candidate, Edit, OperatorClass, Reach, ToolSpec, apply_edits
from agentmut.project import check_tools
from agentmut.seams import Operator, OperatorOptions

MOST_IN_COMMON = 20
"""Characters that a text and its replacement may share at their ends: what stays is no part of an edit."""
_PARTS = {
    OperatorClass.PROMPT: {"prompt"},
    OperatorClass.TOOL: {"tools"},
    OperatorClass.MODEL: {"model", "reply"},
    OperatorClass.CONTEXT: {"context", "history", "transcript"},
    OperatorClass.ORCHESTRATION: {"orchestration"},
}
_BESIDE = {OperatorClass.PROMPT: {"tools"}}
"""Parts that an operator may change as well, where it changes one of its class: a rule goes from there to here."""


def candidate_faults(operator: Operator, config: AgentConfig, candidate: Candidate) -> Iterator[str]:
    """Yield what is wrong with one candidate, one phrase a fault."""
    candidate_name = f"candidate {candidate.description!r}"
    if not candidate.description.strip() or "\n" in candidate.description:
        yield f"{candidate_name}: the description must be one line"
    if not candidate.anchor.strip():
        yield f"{candidate_name}: the anchor must name the place, so that its id is its own"
    yield from (
        f"{candidate_name}: {fault}"
        for edit in candidate.edits
        for fault in _edit_faults(operator, edit, candidate)
    )
    result = applied(config, candidate)
    if isinstance(result, str):
        yield f"{candidate_name}: {result}"
        return
    yield from (f"{candidate_name}: {fault}" for fault in _about_faults(config, candidate))
    if result == config:
        yield f"{candidate_name}: it leaves the config as it is"
    if fault := _tool_fault(result.tools, config.tools):
        yield f"{candidate_name}: it leaves tools that a project could not have: {fault}"
    if operator.reach in (Reach.CALLED, Reach.REPEATED) and candidate.subject not in {
        tool.own_name for tool in config.tools
    }:
        yield f"{candidate_name}: its subject is {candidate.subject!r}, no tool that a scenario could call"


def applied(config: AgentConfig, candidate: Candidate) -> AgentConfig | str:
    """Return the mutated config, or why there is none."""
    for edit in candidate.edits:
        if edit.span is not None and not 0 <= edit.span[0] <= edit.span[1]:
            return f"the span {edit.span} of {edit.pointer} is no range of characters"
    try:
        return apply_edits(config, candidate.edits)
    except MutationError as error:
        return str(error)


def repetitions(candidates: Iterable[Candidate]) -> Iterator[str]:
    """Yield candidates that cannot be told apart, by their edits or by what is said of them."""
    yield from _same(candidates, lambda one: one.model_dump_json(include={"edits"}), "are the same edits")
    yield from _same(
        candidates,
        lambda one: (one.description, one.anchor),
        "have one description and one anchor: say in them where each is",
    )


def _same(candidates: Iterable[Candidate], key: Callable[[Candidate], Any], fault: str) -> Iterator[str]:
    seen: dict[Any, str] = {}
    for candidate in candidates:
        if key(candidate) in seen:
            yield f"candidates {seen[key(candidate)]!r} and {candidate.description!r} {fault}"
        seen[key(candidate)] = candidate.description


def _about_faults(config: AgentConfig, candidate: Candidate) -> Iterator[str]:
    plain = config.model_dump(mode="json") if candidate.about else {}
    for about in candidate.about:
        value = at_path(plain, about.path)
        start, end = about.span or (0, 0)
        if value is None:
            yield f"it is about {about.pointer}, which the config does not have"
        elif about.span is not None and not (isinstance(value, str) and 0 <= start <= end <= len(value)):
            yield f"it is about the characters {start} to {end} of {about.pointer}, which it does not have"


def _edit_faults(operator: Operator, edit: Edit, candidate: Candidate) -> Iterator[str]:
    own = _PARTS.get(operator.operator_class, set())
    has_own = any(one.path[0] in own for one in candidate.edits)
    beside = _BESIDE.get(operator.operator_class, set()) if has_own else set()
    if own and edit.path[0] not in own | beside:
        yield f"it edits {edit.pointer}, but operators of the class {operator.operator_class} edit {_or(own)}"
    if _is_long_text(edit) and (common := _in_common(edit.before, edit.after)) > MOST_IN_COMMON:
        yield (
            f"its edit of {edit.pointer} must be minimal, but replaces {common} characters by the same ones. Give "
            "before, after and span of what changes alone (agentmut.nouns.mutant.prompt_edit does for the prompt): ids "
            "and places follow from them"
        )


def _is_long_text(edit: Edit) -> bool:
    return edit.path == ("prompt",) or (edit.path[0], edit.path[-1]) == ("context", "text")


def _in_common(before: Any, after: Any) -> int:
    """Return how many characters two texts share at their beginnings and, besides those, at their ends."""
    if not (isinstance(before, str) and isinstance(after, str)):
        return 0
    return sum(ends_in_common(before, after))


def _tool_fault(after: Sequence[ToolSpec], before: Sequence[ToolSpec]) -> str:
    """Return the loader's fault with the mutated tools; empty where the original has it too."""
    for tools in (before, after):
        try:
            check_tools(tools)
        except UsageError as error:
            return str(error) if tools is after else ""
    return ""


def _or(parts: Iterable[str]) -> str:
    return " or ".join(f"/{part}" for part in sorted(parts))


def candidates_or_fault(
    operator: Operator, config: AgentConfig, options: OperatorOptions
) -> list[Candidate] | str:
    """Return the candidates, or the fault that the operator shows in their place."""
    try:
        return list(candidates(operator, config, options))
    except PluginError as error:
        return str(error)
    except Exception as error:  # an error for users, which `candidates` lets pass
        return f"it raised {type(error).__name__}: {error}"


def purity_faults(
    operator: Operator, config: AgentConfig, options: OperatorOptions
) -> Iterator[str | list[Candidate]]:
    """Yield what is impure, one phrase a fault; and the candidates, where there are any."""
    before = config.model_copy(deep=True)
    states = random.getstate(), numpy_state()
    found = candidates_or_fault(operator, config, options)
    if isinstance(found, str):
        yield found
        return
    if random.getstate() != states[0]:
        yield "it draws from the global random generator; make choices by what the config says"
    if numpy_state() != states[1]:
        yield "it draws from numpy's global random generator; make choices by what the config says"
    if config != before:
        yield "it changed the config that it was given"
    if found != candidates_or_fault(operator, before, options):
        yield "the same config gave other mutants the second time"
    yield found


def numpy_state() -> tuple[object, ...]:
    """Return the state of numpy's global generator."""
    import numpy as np

    state = np.random.get_state(legacy=False)
    inner = state["state"]
    return inner["key"].tobytes(), inner["pos"], state["has_gauss"]
