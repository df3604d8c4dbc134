"""A named baseline: the agent's behaviour when it was good, for comparisons with later versions."""

import re
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator

from agentmut._base import Frozen, UsageError, first_fault, nearest, write_json
from agentmut.nouns import AgentSummary

SCHEMA_VERSION: Literal[1] = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class PowerCell(Frozen):
    """The chance that a comparison notices a drop."""

    trials: int
    """How many trials the baseline has."""
    drop: float
    """From the observed pass rate of the baseline."""
    fail: float
    """The chance of FAIL, exact, if the observed rate is the true one."""


class SavedSeries(Frozen):
    """Trials that were run together; a baseline that has grown has several such series."""

    run_id: str
    saved: float = Field(ge=0, le=1e11)
    """Seconds since the epoch."""
    first: int = Field(ge=0)
    """The repeat that its trials start with."""
    launched: int = Field(ge=0, le=1_000_000)
    passes: int = Field(ge=0)
    """As the evaluators of that time judged them."""
    trials: int = Field(ge=0)


class SavedScenario(Frozen):
    """The agent on one scenario."""

    digest: str
    """The digest of what shapes a trial of the scenario: input, documents, doubles, hooks."""
    judged_by: str
    """Digest of the evaluators as written."""
    evaluators: str = ""
    """Digest of the set of evaluators that was fixed before the trials; empty in baselines of earlier versions."""
    first_key: str
    """Key of the first trial: equal later if nothing that shapes the trials has changed."""
    launched: int = Field(ge=0, le=1_000_000)
    passes: int = Field(ge=0)
    trials: int = Field(ge=0)
    """Trials that are evidence."""
    first: int | None = Field(default=None, ge=0)
    """The repeat that its trials start with; None where the baseline was saved before this was kept."""
    looks: int = Field(default=1, ge=1)
    """How many sizes the baseline of this agent has had, this one included: each has its part of the doubt."""
    series: tuple[SavedSeries, ...] = ()
    """What the counts rest on, oldest first, once the baseline has been updated; empty: the baseline's own run."""
    power: tuple[PowerCell, ...] = ()
    """What a comparison will notice, with the settings of the day of saving."""

    @model_validator(mode="after")
    def _counts_fit(self) -> Self:
        if not self.passes <= self.trials <= self.launched:
            raise ValueError("passes <= trials <= launched must hold")
        return self


class SavedBaseline(Frozen):
    """The pass rates of one version of the agent, and the runs with their trials."""

    schema_version: Literal[1] = SCHEMA_VERSION
    agentmut_version: str
    name: str
    saved: float = Field(ge=0, le=1e11)
    """Seconds since the epoch."""
    run_id: str
    """The run that it was first saved from; `runs` has those that it rests on."""
    seed: int
    agent: AgentSummary
    scenarios: dict[str, SavedScenario]
    remarks: tuple[str, ...] = ()
    """What the check found when the baseline was saved: what is too small, and how many trials are enough."""

    def runs_of(self, scenario: str) -> tuple[str, ...]:
        """Return the runs with the baseline's trials on one scenario; none if it lacks the scenario."""
        kept = self.scenarios.get(scenario)
        if kept is None:
            return ()
        return tuple(series.run_id for series in kept.series) or (self.run_id,)

    @property
    def runs(self) -> tuple[str, ...]:
        """Return all runs with trials of at least one scenario."""
        return tuple(dict.fromkeys(run for name in self.scenarios for run in self.runs_of(name)))


def check_baseline_name(name: str) -> str:
    """Return a baseline's name, fit for a file. Raises `UsageError`."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"a baseline's name has letters, digits, dots, dashes and underscores, at most 64, got {name!r}."
        )
    return name


def write_baseline(baseline: SavedBaseline, folder: Path) -> Path:
    """Store a baseline under its name; it replaces an earlier one of that name. Raise `StoreError`."""
    path = folder / f"{check_baseline_name(baseline.name)}.json"
    return write_json(baseline, path, "give the same command again")


def read_baseline(name: str, folder: Path) -> SavedBaseline:
    """Return the baseline with a name. Raise `UsageError` if there is none, or the file is invalid."""
    path = folder / f"{check_baseline_name(name)}.json"
    try:
        return SavedBaseline.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = baseline_names(folder)
        hint = nearest(name, known) if known else "`agentmut baseline save` makes one."
        raise UsageError(f"there is no baseline {name!r}. {hint}") from None
    except ValidationError as error:
        raise UsageError(_unreadable(path, name, first_fault(error).under())) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(_unreadable(path, name, str(error))) from None


def _unreadable(path: Path, name: str, text: str) -> str:
    return (
        f"{path} cannot be read as a baseline: {text}. Delete it, or let `agentmut baseline save {name}` of the good "
        "version make it anew."
    )


def baseline_names(folder: Path) -> list[str]:
    """Return the names of all baselines."""
    return sorted(path.stem for path in folder.glob("*.json") if _NAME.fullmatch(path.stem))
