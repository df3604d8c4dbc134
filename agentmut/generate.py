"""Every mutant of a config: what the operators yield, with ids, without repetitions."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from agentmut.config import AgentConfig
from agentmut.errors import MutationError
from agentmut.frozen import digest_of
from agentmut.mutant import (
    ID_LENGTH,
    Candidate,
    Mutant,
    OperatorClass,
    apply_edits,
    unique_ids,
)
from agentmut.protocols import Operator, OperatorOptions


class Dropped(NamedTuple):
    """A candidate that did not become a mutant."""

    operator: str
    description: str
    reason: str


class Empty(NamedTuple):
    """An operator without mutants."""

    operator: str
    reason: str


@dataclass(frozen=True, slots=True)
class Generation:
    """What became of a config under some operators."""

    mutants: tuple[Mutant, ...]
    """In the order of the operators, and of each operator's candidates. Ids are unique."""
    dropped: tuple[Dropped, ...]
    empty: tuple[Empty, ...]
    """Also operators all of whose candidates were dropped."""


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
) -> Generation:
    """All mutants of `config`. Pure: the same arguments give the same mutants, ids and order.

    A candidate is dropped when its edits do not fit, when it leaves the config as it is, when an earlier
    mutant gives the same config, or when `cannot_express` gives a reason why the agent cannot be run so.
    """
    operators = tuple(operators)
    parts = _digests(config, frozenset(AgentConfig.model_fields))
    made: dict[_Content, Mutant] = {}
    dropped: list[Dropped] = []
    taken: set[str] = set()
    for proposal in _proposals(config, operators, options):
        mutant = _mutant(proposal, _free(proposal.id, taken))
        taken.add(mutant.id)
        try:
            content = _content(config, parts, mutant)
        except MutationError as error:
            dropped.append(Dropped(mutant.operator, mutant.description, str(error)))
            continue
        if reason := _repetition(content, parts, made) or cannot_express(mutant):
            dropped.append(Dropped(mutant.operator, mutant.description, reason))
        else:
            made[content] = mutant
    mutants = tuple(made.values())
    return Generation(mutants, tuple(dropped), tuple(_empty(config, operators, mutants, dropped)))


def _proposals(
    config: AgentConfig, operators: Iterable[Operator], options: OperatorOptions
) -> Iterator[_Proposal]:
    for operator in operators:
        for id_, candidate in unique_ids(operator.id, operator.version, operator.mutants(config, options)):
            yield _Proposal(operator, id_, candidate)


def _free(id_: str, taken: set[str]) -> str:
    """`id_`, or where two mutants share a hash, which few thousands of them do now and then, another."""
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
        subject=candidate.subject,
        description=candidate.description,
        edits=candidate.edits,
    )


def _content(config: AgentConfig, parts: Mapping[str, str], mutant: Mutant) -> _Content:
    """The content of the mutated config, from the original's and the parts that the edits touch."""
    touched = frozenset(edit.path[0] for edit in mutant.edits)
    return tuple({**parts, **_digests(apply_edits(config, mutant.edits), touched)}.values())


def _digests(config: AgentConfig, names: frozenset[str]) -> dict[str, str]:
    plain = config.model_dump(mode="json", include=set(names))
    return {name: digest_of(value) for name, value in plain.items()}


def _repetition(content: _Content, parts: Mapping[str, str], made: Mapping[_Content, Mutant]) -> str:
    if content == tuple(parts.values()):
        return "it leaves the config as it is"
    same = made.get(content)
    return f"it gives the same config as {same.id}: {same.description}" if same else ""


def _empty(
    config: AgentConfig, operators: Iterable[Operator], mutants: Iterable[Mutant], dropped: Iterable[Dropped]
) -> Iterator[Empty]:
    fruitful = {mutant.operator for mutant in mutants}
    tried = {candidate.operator for candidate in dropped}
    for operator in operators:
        if operator.id not in fruitful:
            because = "all its candidates were dropped" if operator.id in tried else _lack(config, operator)
            yield Empty(operator.id, f"no mutants of {operator.id}, because {because}")


def _lack(config: AgentConfig, operator: Operator) -> str:
    """Why an operator found no place, as far as it or its class tells."""
    if said := getattr(operator, "lack", ""):
        return str(said)
    has_part, lack = {
        OperatorClass.PROMPT: (bool(config.prompt.strip()), "the prompt is empty"),
        OperatorClass.TOOL: (bool(config.tools), "the config has no tools"),
        OperatorClass.MODEL: (False, "the project file names no other model for it"),
        OperatorClass.CONTEXT: (bool(config.context), "the config has no documents"),
        OperatorClass.ORCHESTRATION: (bool(config.orchestration), "the config has no orchestration"),
        OperatorClass.CONTROL: (True, ""),
        OperatorClass.HIGHER_ORDER: (True, ""),
    }[operator.operator_class]
    return "it found no place in this config" if has_part else lack
