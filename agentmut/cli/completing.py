"""Completion in a shell: names from files and metadata; an unreadable file completes to nothing.

A shell asks on every Tab: no agent and no plugin is imported, and no error is shown.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import typer

Completions = list[tuple[str, str]]
"""Values with what a shell that can show it shows beside them."""
Found = Callable[[Path], Iterable[tuple[str, str]]]


def completer(found: Found) -> Callable[[typer.Context, str], Completions]:
    """Return the completion of a parameter: names of the project on the command line that begin as typed."""

    def complete(ctx: typer.Context, incomplete: str) -> Completions:
        try:
            named = found(_folder(ctx.params.get("project")))
            return [(value, description) for value, description in named if value.startswith(incomplete)]
        except Exception:  # a traceback in the middle of a command line helps nobody
            return []

    return complete


def _folder(project: Any) -> Path:
    path = Path(project) if project else Path()
    return path if path.is_dir() else path.parent


def _runs(folder: Path) -> Iterator[tuple[str, str]]:
    """Complete ids of runs, the newest first."""
    for path in sorted((folder / ".agentmut" / "runs").iterdir(), reverse=True):
        if path.is_dir():
            yield path.name, ""


def _mutants(folder: Path) -> Iterator[tuple[str, str]]:
    """Complete ids of mutants from the latest result."""
    latest = max((folder / ".agentmut" / "runs").glob("*/result.json"))
    for row in json.loads(latest.read_bytes())["mutants"]:
        yield row["id"], f"{row['operator']}, {row['status']}"


def _scenarios(folder: Path) -> Iterator[tuple[str, str]]:
    """Complete names of scenarios from the scenario files."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    suite = yaml.load((folder / "agentmut.yaml").read_bytes(), loader).get("suite") or {}
    patterns = suite.get("scenarios", "scenarios/*.yaml")
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        for path in sorted(folder.glob(pattern)):
            for scenario in yaml.load(path.read_bytes(), loader):
                yield scenario["name"], path.name


def _baselines(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((folder / ".agentmut" / "baselines").glob("*.json")):
        yield path.stem, ""


def _operators(_: Path) -> Iterator[tuple[str, str]]:
    from agentmut.seams import Group, names

    return ((name, "") for name in names(Group.OPERATORS))


def _relations(_: Path) -> Iterator[tuple[str, str]]:
    from agentmut.seams import Group, names

    return ((name, "") for name in names(Group.RELATIONS))


def _classes(_: Path) -> Iterator[tuple[str, str]]:
    return ((name, "") for name in ("prompt", "tool", "model", "context", "orchestration"))


runs = completer(_runs)
mutants = completer(_mutants)
scenarios = completer(_scenarios)
baselines = completer(_baselines)
operators = completer(_operators)
relations = completer(_relations)
classes = completer(_classes)
