"""Which second-order mutants a command is about."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from agentmut.config import AgentConfig
from agentmut.engine.selection import Selection, ignored_mutants, select_mutants
from agentmut.errors import UsageError
from agentmut.generate import Dropped
from agentmut.higher_order import PAIR, Expressible, Named, Pairs, named_pairs, sampled_pairs
from agentmut.mutant import Mutant
from agentmut.project_schema import MutationSettings, SecondOrder


class Pairing(NamedTuple):
    """What pairs are made for."""

    config: AgentConfig
    cannot_express: Expressible


def with_second_order(
    mutants: Sequence[Mutant], selection: Selection, settings: MutationSettings, pairing: Pairing
) -> tuple[tuple[Mutant, ...], tuple[Dropped, ...]]:
    """The mutants that a selection asks for, with their pairs behind them; and the pairs that could not be made.

    Pairs that the command line asks for are always there; with `--mutant` those of the project file must be named.
    """
    cap = settings.per_operator
    pool = select_mutants(mutants, selection.model_copy(update={"mutants": ()}), cap)
    ignored = ignored_mutants(mutants, settings.ignore)
    pool = tuple(mutant for mutant in pool if mutant.id not in ignored)
    asked, standing = (
        _asked(mutants, pool, selection, pairing),
        _standing(mutants, pool, selection, settings, pairing),
    )
    if selection.mutants:
        chosen = select_mutants(_distinct(mutants, asked.mutants, standing.mutants), selection, cap)
        chosen = _distinct(chosen, asked.mutants)
    else:
        chosen = _distinct(select_mutants(mutants, selection, cap), asked.mutants, standing.mutants)
    return chosen, (*asked.dropped, *standing.dropped)


def _asked(
    mutants: Sequence[Mutant], pool: Sequence[Mutant], selection: Selection, pairing: Pairing
) -> Pairs:
    named = named_pairs(selection.pairs, mutants, *pairing)
    return _both(
        named, sampled_pairs(selection.second_order, pool, *pairing) if selection.second_order else Pairs()
    )


def _standing(
    mutants: Sequence[Mutant],
    pool: Sequence[Mutant],
    selection: Selection,
    settings: MutationSettings,
    pairing: Pairing,
) -> Pairs:
    """The pairs of the project file; a sample that the command line asks for takes the place of its own."""
    wanted = settings.second_order or SecondOrder()
    narrowed = bool(selection.classes or selection.operators_named)
    found = [_named(pair, mutants, narrowed, pairing) for pair in wanted.pairs]
    if wanted.sample and not selection.second_order:
        found.append(sampled_pairs(wanted.sample, pool, *pairing))
    return _both(*found)


def _named(pair: Named, mutants: Sequence[Mutant], narrowed: bool, pairing: Pairing) -> Pairs:
    try:
        return named_pairs([pair], mutants, *pairing)
    except UsageError as error:
        if not narrowed:
            raise
        return Pairs((), (Dropped(PAIR, " and ".join(pair), str(error)),))


def _both(*found: Pairs) -> Pairs:
    mutants = _distinct(*(pairs.mutants for pairs in found))
    return Pairs(mutants, tuple(chain.from_iterable(pairs.dropped for pairs in found)))


def _distinct(*groups: Iterable[Mutant]) -> tuple[Mutant, ...]:
    return tuple({mutant.id: mutant for mutant in chain.from_iterable(groups)}.values())
