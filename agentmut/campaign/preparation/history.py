"""The results of operators in earlier runs of a project, for the order of work and for selective mutation."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from agentmut._base import UsageError
from agentmut.mutation import Empty
from agentmut.nouns import Intent, Mutant, MutantRow, Result, Status, read_result

WEIGHT = 4.0
"""How many mutants of an operator a prior counts for."""
KILL_CHANCE = 0.5
"""The chance of a kill where no earlier run tells."""
TRIALS = 40.0
"""Trials of a mutant where no earlier run tells."""
JUDGED = 3
"""Fewest scored mutants of an operator by which selective mutation judges it."""
RUNS = 30
"""How many of the latest runs are read."""
_DECIDED = frozenset({Status.KILLED, Status.SURVIVED, Status.NO_COVERAGE})


class Record(NamedTuple):
    """Counts of the outcomes of some mutants."""

    killed: int = 0
    scored: int = 0
    """All of them: killed, survived or without coverage, as the score counts."""
    tried: int = 0
    """The mutants that took trials."""
    trials: int = 0
    preserving: bool = False


class Expectation(NamedTuple):
    """The expected outcome of a mutant that has not been tried."""

    kill: float
    trials: float

    @property
    def yield_(self) -> float:
        """Return the expected kills a trial."""
        return self.kill / self.trials


class History(NamedTuple):
    """Every mutant's latest row in the results of a project."""

    rows: Mapping[str, MutantRow]

    def by_operator(self) -> dict[str, Record]:
        """Return what became of each operator's mutants."""
        return _records(self.rows.values(), lambda row: row.operator)

    def by_class(self) -> dict[str, Record]:
        """Return the outcomes by class; `preserve` mutants are counted apart, since they are hardly ever killed."""
        return _records(self.rows.values(), _group)


class SelectedMutants(NamedTuple):
    """The mutants that selective mutation keeps."""

    kept: tuple[str, ...]
    left_out: tuple[Empty, ...]


def read_history(runs: Path) -> History:
    """Return the history in a project's folder of runs. Each mutant counts once, by the latest run that decided it.

    Results that cannot be read, or are of another version, are left out, and so are runs that ended before every
    mutant had its answer: kills come first, so nearly all of their decided mutants are kills.
    """
    rows: dict[str, MutantRow] = {}
    for path in sorted(runs.glob("*/result.json"))[-RUNS:]:  # run ids begin with their time
        try:
            result = read_result(path)
        except UsageError:
            continue
        if _is_whole(result):
            rows |= {row.id: row for row in result.mutants if row.status in _DECIDED}
    return History(rows)


def _is_whole(result: Result) -> bool:
    return result.status == "finished" or not any(row.status is Status.UNDECIDED for row in result.mutants)


def by_yield(mutants: Sequence[Mutant], history: History) -> tuple[str, ...]:
    """Return the ids of `mutants`, the cheapest likely kills first: by expected kills a trial.

    An operator's chance of a kill is (killed + w * c) / (tried + w), the mean of a Beta posterior whose prior is
    worth w = 4 mutants and lies at c, the chance of its class; that is (killed + w * 0.5) / (tried + w) over
    the class. Trials of a mutant are shrunk alike, towards those of the class and towards 40. Mutants of equal
    operators keep their order, and so do all of them without history. Second-order mutants come last, as they are
    in no overall score.
    """
    expected = _expectations(history)
    ranked = sorted(mutants, key=lambda m: (bool(m.parts), -expected(m).yield_))
    return tuple(mutant.id for mutant in ranked)


def foreseen(mutants: Sequence[Mutant], history: History) -> Expectation | None:
    """Return the kills and trials to expect of all these mutants together; None without an earlier run.

    See `by_yield`.
    """
    if not history.rows:
        return None
    of = _expectations(history)
    expected = [of(mutant) for mutant in mutants]
    return Expectation(sum(row.kill for row in expected), sum(row.trials for row in expected))


def select_operators(operators: Sequence[str], share: float, history: History) -> SelectedMutants:
    """Return the most effective `share` of the operators by earlier runs (selective mutation, Definition 5.9).

    The AgentAssay paper keeps the operators "identified as most effective" and leaves open what that is. Here it is
    how much the mutants of an operator tell about a suite: 4 q (1 - q) with q = (killed + 1) / (scored + 2), which
    is 1 where half are killed, and near 0 where all are (any suite kills them) or none is (no suite does, or this
    one lacks a whole kind of test: the full run has said so). Of two that tell as much, the one with fewer trials a
    mutant goes first. Of n operators that can be judged ceil(share * n) are kept, and those that are level with
    the last of them; operators of intent `preserve` are chosen among themselves. Operators with fewer than three
    scored mutants cannot be judged and are kept.

    A score over operators that were chosen by their results is no estimate of the score over all of them, and
    cannot be compared with it. Raises `UsageError` without an earlier run.
    """
    if not history.rows:
        raise UsageError(
            "selective mutation keeps the operators with kill rates nearest to one half in earlier runs, and this "
            "project has no finished run yet. Run `agentmut run` once without --selective (mutation.selective)."
        )
    records = history.by_operator()
    judged = [name for name in operators if name in records and records[name].scored >= JUDGED]
    gone: dict[str, str] = {}
    for preserving in (False, True):
        group = [name for name in judged if records[name].preserving is preserving]
        ranks = {
            name: (-round(effectiveness(records[name]), 9), _mean_trials(records[name])) for name in group
        }
        last = sorted(ranks.values())[: math.ceil(share * len(group))][-1:]
        for name in (name for name in group if [ranks[name]] > last):
            gone[name] = _left_out_reason(records[name])
    return SelectedMutants(
        kept=tuple(name for name in operators if name not in gone),
        left_out=tuple(Empty(name, gone[name]) for name in operators if name in gone),
    )


def selection_note(share: float, selected: SelectedMutants) -> str:
    """Return the sentence of the report about a selective run."""
    left_out = ", ".join(empty.operator for empty in selected.left_out) or "none"
    return (
        f"selective mutation ({share:g} of the operators by earlier runs): left out {left_out}; kept "
        f"{', '.join(selected.kept)}. The score counts these operators only: do not compare it with a score of all"
    )


def effectiveness(record: Record) -> float:
    """Return how much an operator's mutants tell about a suite, from 0 to 1.

    >>> effectiveness(Record(killed=5, scored=10))
    1.0
    >>> round(effectiveness(Record(killed=10, scored=10)), 2), round(effectiveness(Record(scored=10)), 2)
    (0.31, 0.31)
    """
    killed = (record.killed + 1) / (record.scored + 2)
    return 4 * killed * (1 - killed)


def _left_out_reason(record: Record) -> str:
    return (
        f"left out by selective mutation: effectiveness {effectiveness(record):.2f} ({record.killed} of "
        f"{record.scored} killed in earlier runs)"
    )


def _mean_trials(record: Record) -> float:
    return record.trials / record.tried if record.tried else 0.0


def _expectations(history: History) -> Callable[[Mutant], Expectation]:
    nothing = Expectation(KILL_CHANCE, TRIALS)
    classes = {name: _shrunk(record, nothing) for name, record in history.by_class().items()}
    operators = history.by_operator()

    def expected(mutant: Mutant) -> Expectation:
        return _shrunk(operators.get(mutant.operator, Record()), classes.get(_group(mutant), nothing))

    return expected


def _shrunk(record: Record, prior: Expectation) -> Expectation:
    total = record.tried + WEIGHT
    return Expectation(
        kill=(record.killed + WEIGHT * prior.kill) / total,
        trials=(record.trials + WEIGHT * prior.trials) / total,
    )


def _group(mutant: Mutant | MutantRow) -> str:
    preserving = mutant.intent is Intent.PRESERVE
    return f"{mutant.operator_class}{' preserving' if preserving else ''}"


def _records(rows: Iterable[MutantRow], key: Callable[[MutantRow], str]) -> dict[str, Record]:
    groups: dict[str, list[MutantRow]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return {name: _record(group) for name, group in groups.items()}


def _record(rows: Sequence[MutantRow]) -> Record:
    rows_with_trials = [row for row in rows if row.trials]
    return Record(
        killed=sum(row.status is Status.KILLED for row in rows),
        scored=len(rows),
        tried=len(rows_with_trials),
        trials=sum(row.trials for row in rows_with_trials),
        preserving=all(row.intent is Intent.PRESERVE for row in rows),
    )
