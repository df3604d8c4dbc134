"""What is no longer needed of a store: old runs, trials that no kept run uses, imported runs before a date."""

import json
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from agentmut.project import FOLDER, Project
from agentmut.store import Imports, Store, StoredRun, baseline_names, read_baseline

FINISHED = "finished"
"""The status of a run that came to its end."""


class OldImports(NamedTuple):
    """The imported runs that started before a time."""

    imports: Imports
    before: float | None
    """Seconds since the epoch; None where imported runs stay."""

    @property
    def number(self) -> int:
        """Return how many there are."""
        return 0 if self.before is None else self.imports.older(self.before)

    @property
    def summary(self) -> str:
        """Return a line on them; empty where imported runs stay."""
        if self.before is None:
            return ""
        return f"imported runs to be removed: {self.number} of {self.imports.totals().trials}"

    def remove(self) -> None:
        """Remove them."""
        if self.before is not None:
            self.imports.forget(self.before)


class UnneededRuns(NamedTuple):
    """The runs of a project that are no longer needed."""

    runs: tuple[StoredRun, ...]
    kept: list[str]
    """The runs that stay."""
    trials: int
    """Trials that no kept run uses."""

    @property
    def ids(self) -> list[str]:
        """Return the ids of the runs that go."""
        return [run.id for run in self.runs]

    def summary(self, store: Store) -> str:
        """Return the runs and the number of trials to be removed, with their cost."""
        kept = f"{_several(len(self.kept), 'run')} {'is' if len(self.kept) == 1 else 'are'}"
        if not self.runs and not self.trials:
            return f"there is nothing to remove: {kept} kept, and every stored trial belongs to a kept run"
        rows = [f"  {run.id}  {kind_of(run):<10} ${store.spent(run.id).usd:.2f}" for run in self.runs]
        return "\n".join(
            [
                f"to be removed: {_several(len(self.runs), 'run')} and {_several(self.trials, 'trial')}; {kept} kept",
                *rows,
            ]
        )

    def remove(self, store: Store, project: Project) -> None:
        """Remove the runs with their folders, and the trials."""
        store.clean(self.kept)
        for run in self.runs:
            shutil.rmtree(project.runs / run.id, ignore_errors=True)


def _several(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def unneeded(store: Store, project: Project, keep: int) -> UnneededRuns:
    """Return what goes if the latest `keep` runs of each kind are kept, and whatever a saved baseline rests on."""
    runs = store.runs()
    kept = kept_runs(runs, keep, project.root / FOLDER / "baselines")
    return UnneededRuns(tuple(run for run in runs if run.id not in kept), kept, store.unused(kept))


def kept_runs(runs: Sequence[StoredRun], keep: int, baselines: Path) -> list[str]:
    """Return the latest runs of each kind, and those that a saved baseline rests on. `runs`: the latest first.

    A run that was not finished takes the place of none that was: a paid campaign stays when a later one has failed.
    """
    saved = [read_baseline(name, baselines) for name in baseline_names(baselines)]
    needed = {run for baseline in saved for run in (baseline.run_id, *baseline.runs)}
    seen: Counter[tuple[str, bool]] = Counter()
    kept = []
    for run in runs:
        kind = kind_of(run), run.status == FINISHED
        seen[kind] += 1
        if seen[kind] <= keep or run.id in needed:
            kept.append(run.id)
    return kept


def kind_of(run: StoredRun) -> str:
    """Return what kind of run it was, as its plan says; `run` for a plan that does not say."""
    try:
        return str(json.loads(run.plan).get("kind", "run"))
    except (ValueError, AttributeError):
        return "run"
