"""Assessments of small agents, and what tests read off them."""

import sqlite3
import sys
from contextlib import closing
from typing import Any

from agentmut.project.project import Project
from agentmut.stats.three_valued import Verdict
from agentmut.store.documents.verdict_report import ScenarioVerdict, VerdictReport

FLAWLESS = "\nRATES.update(alpha=1.0, beta=1.0, gamma=1.0)"


MIXED = "\nRATES.update(alpha=1.0, beta=0.5)"


LATE = """
import random
async def run(config, input, inner=run):
    await asyncio.sleep(random.random() * 0.005)
    return await inner(config, input)
"""


def verdicts(report: VerdictReport) -> dict[str, Verdict]:
    return {row.scenario: row.verdict for row in report.scenarios}


def row(report: VerdictReport, name: str) -> ScenarioVerdict:
    return next(row for row in report.scenarios if row.scenario == name)


def changed(projects: Any, words: tuple[str, ...], **parts: Any) -> Project:
    """The project rewritten, its agent as a new process would import it."""
    sys.modules.pop(projects.module, None)
    project: Project = projects.write(words, **parts)
    return project


def executed(projects: Any) -> int:
    with closing(sqlite3.connect(projects.folder / ".agentmut" / "store.db")) as store:
        return int(store.execute("SELECT count(*) FROM trials").fetchone()[0])
