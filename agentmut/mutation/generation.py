"""Every mutant of a config: the operators' candidates, with ids and without repetitions."""

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import BaseModel

from agentmut._base import (
    AgentmutError,
    MutationError,
    PluginError,
    canonical_json,
    digest_of,
    in_plugin,
    one_line,
)
from agentmut.mutation.other_languages import has_english, other_language_note
from agentmut.mutation.text_change import text_change
from agentmut.mutation.workspace_files import in_file, parts_for
from agentmut.nouns import (
    ID_LENGTH,
    About,
    AgentConfig,
    Candidate,
    Edit,
    Mutant,
    OperatorClass,
    Reach,
    apply_edits,
    unique_ids,
)
from agentmut.recording import AgentExitError, OverdueError, in_time
from agentmut.seams import HasEffect, NamesLack, NeedsEnglish, Operator, OperatorOptions

SECONDS = 300.0
"""Seconds that an operator which is not agentmut's own may take for one config."""


class DropKind(StrEnum):
    """Why a candidate did not become a mutant."""

    IDENTICAL = "identical"
    """It leaves the config as it is."""
    DUPLICATE = "duplicate"
    """An earlier mutant gives the same config."""
    NOT_EXPRESSIBLE = "not_expressible"
    """The agent cannot be run so."""
    NOT_APPLICABLE = "not_applicable"
    """Its edits do not fit the config, or leave none."""


class DroppedCandidate(NamedTuple):
    """A candidate that did not become a mutant."""

    operator: str
    description: str
    reason: str
    kind: DropKind = DropKind.NOT_APPLICABLE
    mutant: Mutant | None = None
    """What it would have been, where its edits fit the config."""


class Empty(NamedTuple):
    """An operator without mutants."""

    operator: str
    reason: str


@dataclass(frozen=True, slots=True)
class Generation:
    """The mutants of a config under some operators, and the dropped candidates."""

    mutants: tuple[Mutant, ...]
    """In the order of the operators, and of each operator's candidates. Ids are unique."""
    dropped: tuple[DroppedCandidate, ...]
    empty: tuple[Empty, ...]
    """Also operators all of whose candidates were dropped."""
    notes: tuple[str, ...] = ()
    """What else a reader has to know about the choice of mutants."""
    selective: float | None = None
    """The share of operators that selective mutation was asked to keep."""
    unselected: int = 0
    """How many more mutants there are that filters and caps left out."""
    operators: tuple[str, ...] = ()
    """The operators that were asked."""
    ignored: Mapping[str, str] = field(default_factory=dict)
    """Id and reason of those of `mutants` that are not to be run."""


class _Proposal(NamedTuple):
    operator: Operator
    id: str
    candidate: Candidate


_Content = tuple[str, ...]
"""Digests of a config's parts: equal exactly for equal configs."""


def generate(
    config: AgentConfig,
    operators: Iterable[Operator],
    options: OperatorOptions,
    cannot_express: Callable[[Mutant], str] = lambda mutant: "",
    lacks: Mapping[OperatorClass, str] = MappingProxyType({}),
) -> Generation:
    """Return all mutants of `config`. Pure: the same arguments give the same mutants, ids and order.

    A candidate is dropped when its edits do not fit, when it leaves the config as it is, when an earlier
    mutant gives the same config, or when `cannot_express` gives a reason why the agent cannot be run so.
    Raises `PluginError` when an operator raises, or yields something else than candidates.
    `lacks` says for classes why an operator finds no place, where more is known of that than the config tells.
    """
    operators = tuple(operators)
    mutants, dropped = _sifted(config, _proposals(config, operators, options), cannot_express)
    needing = [operator.id for operator in operators if isinstance(operator, NeedsEnglish)]
    return Generation(
        mutants,
        dropped,
        tuple(_empty(config, operators, mutants, dropped, lacks)),
        notes=tuple(other_language_note(config, needing)),
        operators=tuple(operator.id for operator in operators),
    )


def _sifted(
    config: AgentConfig, proposals: Iterable[_Proposal], cannot_express: Callable[[Mutant], str]
) -> tuple[tuple[Mutant, ...], tuple[DroppedCandidate, ...]]:
    """Return the proposals that become mutants, with unique ids, and those that are dropped."""
    items = {id(item): _digest(item) for part in (config.tools, config.context) for item in part}
    parts = _digests(config, AgentConfig.model_fields, items)
    made: dict[_Content, Mutant] = {}
    dropped: list[DroppedCandidate] = []
    taken: set[str] = set()
    for proposal in proposals:
        mutant = _mutant(proposal, _free(proposal.id, taken))
        taken.add(mutant.id)
        try:
            _check_about(config, mutant)
            content = _content(config, parts, items, mutant)
        except MutationError as error:
            dropped.append(DroppedCandidate(mutant.operator, mutant.description, str(error)))
            continue
        if why := _repetition(content, parts, made) or _inexpressible(cannot_express(mutant)):
            dropped.append(DroppedCandidate(mutant.operator, mutant.description, *why, mutant))
        else:
            made[content] = mutant
    return tuple(made.values()), tuple(dropped)


def _proposals(
    config: AgentConfig, operators: Iterable[Operator], options: OperatorOptions
) -> Iterator[_Proposal]:
    for operator in operators:
        for id_, candidate in unique_ids(
            operator.id, operator.version, candidates(operator, config, options)
        ):
            yield _Proposal(operator, id_, candidate)


def candidates(operator: Operator, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield an operator's candidates for a config. Raises `PluginError` where the operator misbehaves."""
    for part, index in parts_for(operator, config):
        found = _candidates(operator, part, options)
        yield from found if index is None else in_file(found, config, index)


def _candidates(operator: Operator, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    try:
        found = iter(_found(operator, config, options))
    except KeyboardInterrupt:  # Ctrl-C
        raise
    except BaseException as error:
        raise _gone_wrong(operator, error) from error
    while True:
        try:
            candidate = next(found)
        except StopIteration:
            return
        except KeyboardInterrupt:  # Ctrl-C
            raise
        except BaseException as error:
            raise _gone_wrong(operator, error) from error
        if not isinstance(candidate, Candidate):
            kind = type(candidate).__name__
            raise PluginError(
                f"operator {operator.id!r} yielded a {kind}; expected agentmut.nouns.mutant.Candidate"
            )
        yield candidate


def _found(operator: Operator, config: AgentConfig, options: OperatorOptions) -> Iterable[Candidate]:
    """Return what an operator finds; what is not agentmut's own has a deadline, and may not end the process."""
    if type(operator).__module__.startswith("agentmut."):
        return operator.mutants(config, options)
    try:
        with in_plugin(f"operator {operator.id!r}: mutants()"):
            found: list[Candidate] = in_time(lambda: [*operator.mutants(config, options)], SECONDS)
    except AgentExitError as error:  # of SystemExit, say: what the operator raised is told
        raise error.__cause__ or error from None
    except OverdueError as error:
        place = str(error) or "an unknown place"
        raise PluginError(
            f"operator {operator.id!r} took more than {SECONDS:g} s; it was at {place}. Make it faster, or end its loop"
        ) from None
    return found


def _gone_wrong(operator: Operator, error: BaseException) -> Exception:
    """Return the error for an operator that raised; an error in a user's file keeps its own words."""
    if isinstance(error, AgentmutError):
        return error
    where = f"{type(operator).__module__}.{type(operator).__qualname__}"
    return PluginError(
        f"operator {operator.id!r} raised {one_line(error)}{_place(error)}. Correct {where}; "
        "`agentmut.testing.check_operator` tries it on small configs"
    )


def _place(error: BaseException) -> str:
    """Return the file and the line of the last frame in an operator's own code."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not _is_of_library(f.filename)]
    return f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""


def _is_of_library(path: str) -> bool:
    return "site-packages" in path or Path(path).is_relative_to(_CORE)


_CORE = Path(__file__).parent.parent


def _free(id_: str, taken: set[str]) -> str:
    """Return `id_`, or another id if an earlier mutant has the same hash."""
    while id_ in taken:
        id_ = digest_of(id_)[:ID_LENGTH]
    return id_


def _mutant(proposal: _Proposal, id_: str) -> Mutant:
    operator, candidate = proposal.operator, proposal.candidate
    return Mutant(
        id=id_,
        operator=operator.id,
        version=operator.version,
        operator_class=operator.operator_class,
        intent=operator.intent,
        reach=operator.reach,
        effect=operator.effect if isinstance(operator, HasEffect) else None,
        subject=candidate.subject,
        description=candidate.description,
        edits=candidate.edits,
        about=candidate.about,
    )


def _check_about(config: AgentConfig, mutant: Mutant) -> None:
    """Check the places that the mutant names. Raise `MutationError` for a place that the config does not have."""
    for about in mutant.about:
        start, end = about.span or (0, 0)
        if not 0 <= start <= end <= _length(config, about):
            place = f"{start} to {end} of {about.pointer}" if about.span else about.pointer
            raise MutationError(f"it is about {place}, which the config does not have")


def _length(config: AgentConfig, about: About) -> int:
    """Return the length of the text at a place in characters; -1 for a tool or document that does not exist."""
    part, *rest = about.path
    if part == "prompt":
        return len(config.prompt)
    if part not in ("tools", "context") or not rest:
        return 0
    items: tuple[Any, ...] = getattr(config, part)
    if not rest[0].isdigit() or int(rest[0]) >= len(items):
        return -1
    return len(items[int(rest[0])].text) if rest[1:] == ["text"] else 0


def _content(
    config: AgentConfig, parts: Mapping[str, str], items: Mapping[int, str], mutant: Mutant
) -> _Content:
    """Return the content of the mutated config, from the original's and the parts that the edits touch.

    Prompts are long and most mutants change a few words of one, so it is known by its change.
    """
    written = [edit for edit in mutant.edits if _writes_prompt(edit)]
    others = [edit for edit in mutant.edits if not _writes_prompt(edit)]
    touched = frozenset(edit.part for edit in others)
    mutated = apply_edits(config, others)
    found = {**parts, **_digests(mutated, touched, items)} if others else dict(parts)
    if written and (change := text_change(config.prompt, written)):
        found["prompt"] = canonical_json(change)
    return tuple(found.values())


def _writes_prompt(edit: Edit) -> bool:
    return edit.path == ("prompt",) and isinstance(edit.after, str)


def _digests(config: AgentConfig, names: Iterable[str], items: Mapping[int, str]) -> dict[str, str]:
    """Return digests of parts. `items` has the digests of the original's tools and documents, which mutants share."""
    return {name: _digest(getattr(config, name), items) for name in names}


def _digest(value: Any, items: Mapping[int, str] = MappingProxyType({})) -> str:
    if isinstance(value, tuple):
        return digest_of([items.get(id(item)) or _digest(item) for item in value])
    return digest_of(value.model_dump(mode="json") if isinstance(value, BaseModel) else value)


def _repetition(
    content: _Content, parts: Mapping[str, str], made: Mapping[_Content, Mutant]
) -> tuple[str, DropKind] | None:
    if content == tuple(parts.values()):
        return "it leaves the config as it is", DropKind.IDENTICAL
    same = made.get(content)
    reason = f"it gives the same config as {same.id}: {same.description}" if same else ""
    return (reason, DropKind.DUPLICATE) if same else None


def _inexpressible(reason: str) -> tuple[str, DropKind] | None:
    return (reason, DropKind.NOT_EXPRESSIBLE) if reason else None


def _empty(
    config: AgentConfig,
    operators: Iterable[Operator],
    mutants: Iterable[Mutant],
    dropped: Iterable[DroppedCandidate],
    lacks: Mapping[OperatorClass, str],
) -> Iterator[Empty]:
    fruitful = {mutant.operator for mutant in mutants}
    tried = {candidate.operator for candidate in dropped}
    for operator in operators:
        if operator.id not in fruitful:
            lack = lacks.get(operator.operator_class) or _lack(config, operator)
            because = "all its candidates were dropped" if operator.id in tried else lack
            yield Empty(operator.id, f"no mutants of {operator.id}, because {because}")


def _lack(config: AgentConfig, operator: Operator) -> str:
    """Return why an operator found no place, as far as the operator or its class knows."""
    if operator.reach is Reach.CONVERSED:
        return "no scenario has more than one turn"
    has_part, lack = {
        OperatorClass.PROMPT: (bool(config.prompt.strip() or config.workspace), "the prompt is empty"),
        OperatorClass.TOOL: (bool(config.tools), "the config has no tools"),
        OperatorClass.MODEL: (True, ""),
        OperatorClass.CONTEXT: (bool(config.context), "the config has no documents"),
        OperatorClass.ORCHESTRATION: (_has_flow(config), _no_flow(config)),
        OperatorClass.CONTROL: (True, ""),
        OperatorClass.HIGHER_ORDER: (True, ""),
    }[operator.operator_class]
    if not has_part:
        return lack
    if isinstance(operator, NeedsEnglish) and not has_english(config):
        return "the prompt is not English"
    return (operator.lack if isinstance(operator, NamesLack) else "") or "it found no place in this config"


def _has_flow(config: AgentConfig) -> bool:
    """Return whether more is known of the agent's flow than limits, which agents without any have, too."""
    return any(value for key, value in config.orchestration.items() if key not in _LIMITS)


def _no_flow(config: AgentConfig) -> str:
    lacking = ["hand-offs", "nodes", "edges"]
    lacking += [limit for key, limit in _LIMITS.items() if not config.orchestration.get(key)]
    return f"the agent has no {', '.join(lacking[:-1])} or {lacking[-1]} that its adapter can change"


_LIMITS: Mapping[str, str] = {"retries": "retries", "max_steps": "limit of steps"}
"""By the key of a limit: how a reason names it."""
