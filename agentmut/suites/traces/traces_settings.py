"""The settings of recorded runs in a project: `suite: {traces: runs/*.json}`."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from agentmut._base import Frozen, PassScore

WHERE = "suite.traces"


def _all_for_true(value: Any) -> Any:
    return {} if value is True else None if value is False else value


class ImportedRuns(Frozen):
    """Which of the runs that `agentmut import` has put into the store."""

    scenarios: tuple[str, ...] = ()
    """All where empty."""
    versions: tuple[str, ...] = ()
    """Versions of the agent whose runs are used, or beginnings of their names; all where empty."""
    since: str | None = None
    """Runs that started then or later: `2026-05-01`, or `7d` ago."""
    until: str | None = None
    """Runs that started before."""
    sample: int | None = Field(default=None, ge=1)
    """At most so many, drawn at random."""
    seed: int = 0


class TracesSettings(Frozen):
    """Which files to read, what tells their scenarios apart, and what judges their runs."""

    files: Annotated[
        tuple[str, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)
    ] = ()
    """Glob patterns of files, relative to the project file."""
    imported: Annotated[ImportedRuns | None, BeforeValidator(_all_for_true)] = None
    """Runs of the store, in the place of files; `true` for all of them."""
    format: str = "auto"
    """`auto` recognises the format by what a file holds."""
    scenario_by: str | None = None
    """The field of a record that names its scenario, with dots for fields in fields; else what the format has."""
    outcome: str | None = None
    """The recorded score that decides, such as `reward`; `evaluators` where no recorded score does. May be left out
    where there is one score, or none."""
    pass_score: PassScore = None
    """The least score that passes, of all scores or by their names; scores that are yes or no need none."""
    evaluators: tuple[dict[str, JsonValue], ...] = ()
    """Evaluators of agentmut, which judge every run besides."""

    @model_validator(mode="after")
    def _one_source(self) -> "TracesSettings":
        if bool(self.files) == (self.imported is not None):
            raise ValueError("give either `files`, or `imported` for the runs in the store")
        return self
