"""Between the engine's nouns and rows of the store."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from agentmut._base import storable_json
from agentmut.nouns import AgentTrace, Ending, Execution, Footprint, HookUse

LATER = 1_000_000
"""The first repeat of the original's trials that are run beside mutants; the baseline has smaller ones."""
SERIES = 2_000_000_000
"""Repeats of one series, of which each set of evaluators has its own; more than any run makes."""


def is_later(repeat: int) -> bool:
    """Return whether a trial of the original was run beside mutants, in whatever series; see `LATER`."""
    return repeat % SERIES >= LATER


class StoredTrial(NamedTuple):
    """A finished trial with its identity."""

    key: str
    mutant: str
    """Mutant id; empty for the original."""
    scenario: str
    repeat: int
    execution: Execution
    finished: float
    """Seconds since the epoch."""
    run: str = ""
    """The run that executed it."""
    id: int = 0
    """Its row; 0 before it is stored."""


class TrialHead(NamedTuple):
    """The identity of a stored trial, without what happened in it: a thousand of these take little room."""

    key: str
    mutant: str
    scenario: str
    repeat: int
    run: str
    id: int


class StoredRun(NamedTuple):
    """A campaign: its plan as JSON, how far it came, and for how many seconds it has been at work."""

    id: str
    started: float
    plan: str
    status: str
    seconds: float = 0.0


class Spent(NamedTuple):
    """What the trials that a run has executed cost together."""

    trials: int = 0
    baseline_trials: int = 0
    tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
    """Trials that called a model without a known price."""
    abandoned: int = 0
    seconds: float = 0.0
    judges_usd: float = 0.0
    """What model judges cost, as far as prices are known; no part of `usd`."""
    kept: int = 0
    """Bytes of the traces."""
    cut: int = 0
    """Trials of which not all is kept."""
    hooks: tuple[HookUse, ...] = ()
    """What setup and teardown of scenarios asked of models, by model; no part of `usd` and `tokens`."""
    over_budget: int = 0
    """Trials that a budget in money has cut."""
    over_budget_usd: float = 0.0
    """What these cost; a part of `usd`."""


def trial_row(trial: StoredTrial, run: str) -> dict[str, Any]:
    """Return the row of a trial that `run` has executed."""
    execution = trial.execution
    trace = execution.trace
    return {
        "key": trial.key,
        "run": run,
        "mutant": trial.mutant,
        "scenario": trial.scenario,
        "repeat": trial.repeat,
        "ending": execution.ending.value,
        "reason": plain_text(execution.reason),
        "trace": trace.written.encode(),
        "footprint": execution.footprint.digest,
        "attempts": execution.attempts,
        "abandoned": execution.abandoned,
        "tokens": 0 if trace.foreign else trace.paid_tokens,  # what it took was paid elsewhere
        "usd": 0.0 if trace.foreign else trace.paid_usd,
        "finished": trial.finished,
    }


def plain_text(text: str) -> str:
    """Return a text as every database takes it: without half of a pair, and with a sign in the place of NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{SYMBOL FOR NULL}")


def footprint_row(footprint: Footprint) -> dict[str, Any]:
    """Return the row of a footprint."""
    return {"digest": footprint.digest, "content": storable_json(footprint).encode()}


def trial_of(row: Mapping[Any, Any], footprint: Footprint) -> StoredTrial:
    """Return the trial that `trial_row` wrote. Raises `ValidationError` or `ValueError` for a damaged row."""
    execution = Execution(
        ending=Ending(row["ending"]),
        reason=row["reason"],
        trace=AgentTrace.model_validate_json(row["trace"]),
        footprint=footprint,
        attempts=row["attempts"],
        abandoned=row["abandoned"],
    )
    identity = (row["key"], row["mutant"], row["scenario"], row["repeat"])
    if not (isinstance(row["scenario"], str) and isinstance(row["finished"], float | int)):
        # SQLite keeps any value in any column
        raise ValueError(f"trial {row['id']} has no scenario, or no time")
    return StoredTrial(*identity, execution, row["finished"], row["run"], row["id"])
