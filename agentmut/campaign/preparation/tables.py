"""Decision tables, computed once and kept on disk: many runs need the same baseline and design."""

import json
from pathlib import Path

from agentmut._base import digest_of, make_private_folder, write_private
from agentmut.project import FOLDER, Project
from agentmut.stats import (
    RULE_VERSION,
    Evidence,
    KillDesign,
    KillTable,
    PooledEvidence,
    decision_table,
    evidence,
    pooled_evidence,
)


class Tables:
    """Decision tables by baseline and design; without a `folder` they are kept in memory only."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._loaded: dict[tuple[int, int, KillDesign], KillTable] = {}
        self._evidence: dict[tuple[int, int, int], Evidence] = {}
        self._pooled: dict[tuple[int, int, int], PooledEvidence] = {}

    @classmethod
    def from_project(cls, project: Project) -> "Tables":
        """Return the tables that the project keeps."""
        return cls(project.root / FOLDER / "tables")

    def get(self, f0: int, n0: int, design: KillDesign) -> KillTable:
        """Return the table for a baseline of `f0` failures in `n0` trials."""
        key = (f0, n0, design)
        if key not in self._loaded:
            self._loaded[key] = self._stored(key) or self._computed(key)
        return self._loaded[key]

    def evidence(self, f0: int, n0: int, n_max: int) -> Evidence:
        """Return the log evidence ratios that choose the next trial, for the same baseline."""
        key = (f0, n0, n_max)
        if key not in self._evidence:
            self._evidence[key] = evidence(f0, n0, n_max)
        return self._evidence[key]

    def pooled(self, f0: int, n0: int, n_max: int) -> PooledEvidence:
        """Return a scenario's part of the evidence of the whole suite, for the same baseline."""
        key = (f0, n0, n_max)
        if key not in self._pooled:
            self._pooled[key] = pooled_evidence(f0, n0, n_max)
        return self._pooled[key]

    def _stored(self, key: tuple[int, int, KillDesign]) -> KillTable | None:
        try:
            table = KillTable.from_json(json.loads(self._path(key).read_text())) if self._folder else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # missing, damaged or from another version of the rule: compute it again
        return table if table and (table.f0, table.n0, table.design) == key else None

    def _computed(self, key: tuple[int, int, KillDesign]) -> KillTable:
        table = decision_table(*key)
        if self._folder:
            try:
                make_private_folder(self._folder)
                write_private(self._path(key), json.dumps(table.to_json()))
            except OSError:  # a cache that cannot be written costs time, nothing else
                return table
        return table

    def _path(self, key: tuple[int, int, KillDesign]) -> Path:
        assert self._folder is not None
        f0, n0, design = key
        return self._folder / f"{digest_of([RULE_VERSION, f0, n0, *design])[:24]}.json"
