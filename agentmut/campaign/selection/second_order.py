"""The second-order mutants of a command."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from agentmut._base import UsageError
from agentmut.campaign.selection.selection import Selection, select_mutants
from agentmut.mutation import PAIR, DroppedCandidate, Expressible, Named, Pairs, named_pairs, sampled_pairs
from agentmut.nouns import AgentConfig, Mutant, Origin
from agentmut.project import MutationSettings, SecondOrder


class Choice(NamedTuple):
    """The selection, with the mutants and the origin that pairs are made from."""

    selection: Selection
    settings: MutationSettings
    origin: Origin
    ignored: Mapping[str, str]
    """Id and reason of the mutants that are not to be run."""
    cannot_express: Expressible

    def selected(self, mutants: Iterable[Mutant], *, named: bool = True) -> tuple[Mutant, ...]:
        """Return the pairs that the selection keeps; with `named` false, ids in the selection are ignored."""
        selection = self.selection if named else self.selection.model_copy(update={"mutants": ()})
        return select_mutants(mutants, selection, self.settings, self.origin, self.ignored)

    @property
    def pairing(self) -> tuple[AgentConfig, Expressible]:
        """Return what every maker of pairs takes."""
        return self.origin.config, self.cannot_express


def with_second_order(
    mutants: Sequence[Mutant], choice: Choice
) -> tuple[tuple[Mutant, ...], tuple[DroppedCandidate, ...]]:
    """Return the selected mutants followed by their pairs, and the pairs that could not be made.

    Pairs that the command line asks for are always there; with `--mutant` those of the project file must be named.
    """
    pool = tuple(
        mutant for mutant in choice.selected(mutants, named=False) if mutant.id not in choice.ignored
    )
    asked, standing = _requested_pairs(mutants, pool, choice), _standing(mutants, pool, choice)
    if choice.selection.mutants:
        chosen = choice.selected(_distinct(mutants, asked.mutants, standing.mutants))
        chosen = _distinct(chosen, asked.mutants)
    else:
        chosen = _distinct(choice.selected(mutants), asked.mutants, standing.mutants)
    return chosen, (*asked.dropped, *standing.dropped)


def _requested_pairs(mutants: Sequence[Mutant], pool: Sequence[Mutant], choice: Choice) -> Pairs:
    wanted = choice.selection.second_order
    named = named_pairs(choice.selection.pairs, mutants, *choice.pairing)
    _refuse_impossible("--pair", named)
    return _both(named, sampled_pairs(wanted, pool, *choice.pairing) if wanted else Pairs())


def _standing(mutants: Sequence[Mutant], pool: Sequence[Mutant], choice: Choice) -> Pairs:
    """Return the pairs of the project file; a sample on the command line replaces the file's sample."""
    wanted = choice.settings.second_order or SecondOrder()
    pairs = [_named(pair, mutants, choice) for pair in wanted.pairs]
    if wanted.sample and not choice.selection.second_order:
        pairs.append(sampled_pairs(wanted.sample, pool, *choice.pairing))
    return _both(*pairs)


def _refuse_impossible(where: str, pairs: Pairs) -> None:
    """Raise `UsageError` for a pair whose ids were given but which cannot be made."""
    for dropped in pairs.dropped:
        raise UsageError(f"{where}: there is no pair of {dropped.description}: {dropped.reason}.")


def _named(pair: Named, mutants: Sequence[Mutant], choice: Choice) -> Pairs:
    try:
        pairs = named_pairs([pair], mutants, *choice.pairing)
    except UsageError as error:
        if not choice.selection.narrows_operators:
            raise
        return Pairs((), (DroppedCandidate(PAIR, " and ".join(pair), str(error)),))
    _refuse_impossible("mutation.second_order.pairs", pairs)
    return pairs


def _both(*found: Pairs) -> Pairs:
    mutants = _distinct(*(pairs.mutants for pairs in found))
    return Pairs(mutants, tuple(chain.from_iterable(pairs.dropped for pairs in found)))


def _distinct(*groups: Iterable[Mutant]) -> tuple[Mutant, ...]:
    return tuple({mutant.id: mutant for mutant in chain.from_iterable(groups)}.values())
