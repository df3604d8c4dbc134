"""What changed evaluators make of the trials of an earlier run: `rescored.json` in the run's folder."""

from pathlib import Path

from pydantic import Field

from agentmut.files.whole_files import write_json
from agentmut.frozen import Frozen
from agentmut.mutant import Status
from agentmut.result import Result, Score


class Flip(Frozen):
    """A mutant whose status is another one now."""

    mutant: str
    operator: str
    description: str
    before: Status
    after: Status
    by: str = ""
    """Where it is killed now: scenarios and the evaluators that failed there."""


class NeedsTrials(Frozen):
    """A mutant that stored trials do not decide any more."""

    mutant: str
    operator: str
    scenarios: tuple[str, ...]
    """Where trials are missing."""
    why: str


class Rescored(Frozen):
    """Scores of a run before and after, by the same trials."""

    run_id: str
    trials: int
    """Stored trials that were judged again."""
    before: Score
    after: Score
    """Its value counts what the stored trials decide; `undecided` mutants are open, so it forecasts no run."""
    flipped: tuple[Flip, ...] = ()
    fresh: tuple[NeedsTrials, ...] = ()
    notes: tuple[str, ...] = ()
    result: Result = Field(repr=False)
    """The whole result as it is now."""


def write_rescored(rescored: Rescored, folder: Path) -> Path:
    """Write `rescored.json` into a run's folder, whole or not at all. Raises `StoreError`."""
    return write_json(rescored, folder / "rescored.json", "`agentmut rescore`")
