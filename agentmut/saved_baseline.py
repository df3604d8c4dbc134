"""A named baseline: what the agent did when it was good, kept to compare later versions with."""

import re
from pathlib import Path

from pydantic import ValidationError

from agentmut.errors import UsageError, nearest
from agentmut.frozen import Frozen
from agentmut.result import AgentSummary
from agentmut.whole_files import write_json

SCHEMA_VERSION = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class SavedScenario(Frozen):
    """The agent on one scenario."""

    digest: str
    """Of what shapes a trial of the scenario: input, documents, doubles, hooks."""
    judged_by: str
    """Digest of the evaluators as written."""
    first_key: str
    """Key of the first trial: equal later if nothing that shapes the trials has changed."""
    launched: int
    passes: int
    trials: int
    """Trials that are evidence."""


class SavedBaseline(Frozen):
    """Pass rates of one version of the agent, and the run whose trials they rest on."""

    schema_version: int = SCHEMA_VERSION
    agentmut_version: str
    name: str
    saved: float
    """Seconds since the epoch."""
    run_id: str
    seed: int
    agent: AgentSummary
    scenarios: dict[str, SavedScenario]


def check_name(name: str) -> str:
    """A baseline's name, fit for a file. Raises `UsageError`."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"a baseline's name has letters, digits, dots, dashes and underscores, at most 64, got {name!r}."
        )
    return name


def write_baseline(baseline: SavedBaseline, folder: Path) -> Path:
    """Keep a baseline under its name; an earlier one of that name is replaced. Raises `StoreError`."""
    path = folder / f"{check_name(baseline.name)}.json"
    return write_json(baseline, path, "give the same command again")


def read_baseline(name: str, folder: Path) -> SavedBaseline:
    """The baseline of that name. Raises `UsageError` when there is none, or the file is not one."""
    path = folder / f"{check_name(name)}.json"
    try:
        return SavedBaseline.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = baseline_names(folder)
        hint = nearest(name, known) if known else "`agentmut baseline save` makes one."
        raise UsageError(f"there is no baseline {name!r}. {hint}") from None
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        said = str(error).splitlines()[0]
        raise UsageError(
            f"{path} cannot be read as a baseline: {said}. `agentmut baseline save {name}` of the good version "
            "makes it anew."
        ) from None


def baseline_names(folder: Path) -> list[str]:
    """The names of all baselines."""
    return sorted(path.stem for path in folder.glob("*.json"))
