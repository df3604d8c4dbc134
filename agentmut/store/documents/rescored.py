"""`rescored.json`: the decisions of changed evaluators and relations on the trials of an earlier run."""

from collections.abc import Callable
from pathlib import Path

from pydantic import Field, ValidationError

from agentmut._base import Frozen, UsageError, keep_json
from agentmut.nouns import Result, Score, Status
from agentmut.store.documents.relation_report import SurvivorsReport
from agentmut.store.reports import RESCORED


class Flip(Frozen):
    """A mutant whose status has changed."""

    mutant: str
    operator: str
    description: str
    before: Status
    after: Status
    by: str = ""
    """Where it is killed now: scenarios and the evaluators that failed there."""
    final: bool = True
    """False for a kill that no stored trial of the original confirms: a run would leave the mutant undecided."""


class NeedsTrials(Frozen):
    """A mutant that stored trials do not decide any more, or not on a new scenario."""

    mutant: str
    operator: str
    scenarios: tuple[str, ...]
    """Where trials are missing."""
    why: str
    certain: bool = True
    """False where it is unknown whether the mutant reaches these scenarios: the original has not run them yet."""


class RelationFlip(Frozen):
    """A mutant that relations now kill and did not kill before, or the reverse."""

    mutant: str
    operator: str
    description: str
    before: tuple[str, ...]
    """`relation @ scenario` that killed it."""
    after: tuple[str, ...]


class RelationsRescored(Frozen):
    """The findings of the project's relations on stored runs of mutants that evaluators did not kill."""

    relations: tuple[str, ...]
    """The relations of today, with their arguments."""
    before: Score | None
    """The score with kills by relations, as the run's result has it; None where no relation was checked on mutants."""
    after: Score
    flipped: tuple[RelationFlip, ...] = ()
    kept: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """By mutant: kills of an earlier check that could not be judged again, and count as they did."""
    report: SurvivorsReport | None = None
    """What was found in detail, and what takes runs; None where no mutant survived, or no relation fits."""
    notes: tuple[str, ...] = ()


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
    """An entry for each mutant and reason."""
    relations: RelationsRescored | None = None
    """None where the project names no relations (`relations.use`, `relations.own`), and none was checked before."""
    notes: tuple[str, ...] = ()
    result: Result = Field(repr=False)
    """The whole result as it is now."""


def read_rescored(path: Path) -> Rescored:
    """Read what `write_rescored` wrote. Raise `UsageError` if it is missing or invalid."""
    return parse_rescored(lambda: path.read_text(encoding="utf-8"), str(path))


def parse_rescored(text: Callable[[], str], place: str) -> Rescored:
    """Return the document in a text that `text` reads from a place. Raise `UsageError` if it cannot."""
    try:
        return Rescored.model_validate_json(text())
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        said = str(error).splitlines()[0]
        raise UsageError(
            f"{place} cannot be read as what `agentmut rescore` wrote: {said}. Give that command again, or delete "
            "the file."
        ) from None


def write_rescored(rescored: Rescored, folder: Path) -> None:
    """Write `rescored.json` into a run's folder, whole or not at all; not on a read-only disk. Raises `StoreError`."""
    keep_json(rescored, folder / RESCORED, "`agentmut rescore`")
