"""Trials that another tool recorded, as agentmut reads them, and unreadable records."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from pydantic import Field, JsonValue, model_validator

from agentmut._base import Frozen
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.trace import AgentTrace


class Origins(Frozen):
    """The number of runs behind some evidence, and how many of them another tool recorded."""

    runs: int = 0
    foreign: int = 0
    foreign_share: float = 0.0
    """The share of foreign runs, from 0 to 1; 0 without runs. Always made of the two counts."""

    @model_validator(mode="before")
    @classmethod
    def _with_share(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        runs, foreign = value.get("runs", 0), value.get("foreign", 0)
        return {**value, "foreign_share": foreign / runs if runs else 0.0}

    @classmethod
    def together(cls, several: Iterable["Origins"]) -> "Origins":
        """Return the origins of all evidence together."""
        each = list(several)
        return cls(runs=sum(one.runs for one in each), foreign=sum(one.foreign for one in each))


class RecordPlace(Frozen):
    """The place of a record: the file as messages show it, and the line, counted from 1."""

    file: str
    line: int | None = None
    """None where the file has no lines, such as an archive."""

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


class RecordedScore(Frozen):
    """Another tool's own judgement of a trial."""

    value: bool | float
    """Passed or failed, or a number whose largest value, mostly 1, is the best."""
    reason: str = ""


class ImportedOutcome(StrEnum):
    """The outcome of an imported run, by its record."""

    PASS = "pass"
    FAIL = "fail"
    UNJUDGED = "unjudged"
    """No recorded score decides; evaluators may."""
    NO_EVIDENCE = "no_evidence"
    """Trouble of a service ended the run, or its messages were not recorded."""


class ImportedAs(Frozen):
    """An imported run without its trial: its scenario, its outcome and its source, as a store keeps them."""

    scenario: str
    outcome: ImportedOutcome
    reason: str = ""
    version: str = ""
    format: str
    files: str
    place: RecordPlace
    """Where the run stood when it was imported first."""


class ForeignTrial(Frozen):
    """One run of an agent that another tool carried out. A field that the record lacks is empty."""

    scenario: str
    """The case that was run, by the name that the format has for it."""
    turns: tuple[JsonValue, ...] = Field(min_length=1)
    """What the user said in this run."""
    trace: AgentTrace
    place: RecordPlace
    config: AgentConfig = AgentConfig()
    """What the record tells of the agent: prompt, tools, model."""
    scores: dict[str, RecordedScore] = Field(default_factory=dict)
    """By name; empty where nobody judged the run."""
    fields: dict[str, JsonValue] = Field(default_factory=dict)
    """All else that is known of the run, by which scenarios may be told apart."""
    started: float | None = None
    """Seconds since the epoch."""
    no_evidence: str = ""
    """Why the run says nothing about the agent, such as trouble of the service; empty where it does say something."""
    imported_as: ImportedAs | None = None
    """How another store had imported the run, where it comes from an export of that store."""
    unfinished: bool = Field(default=False, exclude=True)
    """Whether the record lacks the end of the run, as it does while the run goes on. Kept nowhere."""

    @property
    def exported_as(self) -> tuple[str, ...]:
        """Return the campaign, mutant, scenario and repeat of a run that `agentmut export` wrote; empty for others.

        A run that another tool had recorded stays a run of that tool, whatever has written it since.
        """
        if self.trace.foreign is not None:
            return ()
        names = ("run", "mutant", "scenario", "repeat", "trial")
        told = [self.fields.get(f"agentmut.{name}") for name in names]
        if told[0] is None or told[-1] is None:
            return ()
        return tuple("" if each is None else str(each) for each in told[:-1])


class ImportedTrial(Frozen):
    """A foreign trial in the store, with its source."""

    scenario: str
    outcome: ImportedOutcome
    reason: str = ""
    """The reason that came with the deciding score, or why the run is no evidence."""
    version: str = ""
    """The agent's version where the record has one, else the beginning of the config's digest.

    `mutant ID` or `run ID` for what `agentmut export` wrote of a mutant, or without a config."""
    format: str
    files: str
    """SHA-256 of the files that it was read from."""
    trial: ForeignTrial


class BrokenRecord(Frozen):
    """An unreadable record. The records around it are still read."""

    place: RecordPlace
    reason: str
    """What is wrong, in a phrase."""

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"
