"""The settings of recorded runs in a project: `suite: {traces: runs/*.json}`."""

from typing import Annotated

from pydantic import BeforeValidator, Field, JsonValue

from agentmut._base import Frozen, PassScore

WHERE = "suite.traces"
EVALUATORS = "evaluators"
"""The `outcome` of runs that evaluators of agentmut alone judge."""


class TracesSettings(Frozen):
    """Which files to read, what tells their scenarios apart, and what judges their runs."""

    files: Annotated[
        tuple[str, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)
    ] = Field(min_length=1)
    """Glob patterns of files, relative to the project file."""
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
