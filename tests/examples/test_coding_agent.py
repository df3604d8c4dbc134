"""The example of a coding agent, through the simulator: what a lost line of its files does to the repository."""

import asyncio
import shutil
from pathlib import Path

import pytest

from agentmut.campaign.preparation.executors import local_executor
from agentmut.campaign.preparation.session import Session, open_session
from agentmut.campaign.selection.choosing import make_mutants
from agentmut.campaign.selection.selection import Selection
from agentmut.judging.evaluators.files import CommandPasses, FileMatches, FilesChanged
from agentmut.nouns.execution import Execution
from agentmut.nouns.mutant import Mutant
from agentmut.project.loading import load_project
from agentmut.trial.executor import TrialRequest
from agentmut.trial.witness.witness import Detector, Route

pytestmark = pytest.mark.process

EXAMPLE = Path(__file__).parents[2] / "examples" / "coding_agent"
TRIALS = 2


async def executed(session: Session, mutant: Mutant | None, scenario: str) -> list[Execution]:
    executor = local_executor(session)
    async with executor.session():
        ids = [f"{mutant.id if mutant else 'original'}-{number}" for number in range(TRIALS)]
        wanted = (executor.execute(TrialRequest(mutant, scenario, id_)) for id_ in ids)
        return list(await asyncio.gather(*wanted))


def changed(done: Execution) -> list[str]:
    assert done.trace.workspace, done.reason
    return [change.path for change in done.trace.workspace.files]


def test_a_lost_line_of_a_skill_shows_in_the_repository(
    tmp_path: Path, simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", simulator_url)
    monkeypatch.setenv("OPENAI_API_KEY", "simulated")
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns(".agentmut", "__pycache__"))
    session = open_session(load_project(folder))
    mutants = make_mutants(session, Selection(operators_named=("prompt.drop_instruction",))).mutants
    (mutant,) = (one for one in mutants if "add a note" in one.description)
    original, lost = (asyncio.run(executed(session, one, "release")) for one in (None, mutant))
    assert ["CHANGELOG.md", "VERSION"] in [changed(done) for done in original]
    assert all("CHANGELOG.md" not in changed(done) for done in lost)
    case = next(one for one in session.scenarios if one.name == "release")
    whole = next(done.trace for done in original if len(changed(done)) == 2)
    judges = (
        CommandPasses("tests"),
        FilesChanged("CHANGELOG.md"),
        FileMatches({"file": "VERSION", "pattern": r"^1\.4\.0$"}),
    )
    assert [judge.evaluate(case, whole).passed for judge in judges] == [True, True, True]
    assert not judges[1].evaluate(case, lost[0].trace).passed
    detector = Detector(mutant, session.suite.full).informed([done.footprint for done in original])
    witness = detector.witness(lost[0].footprint)
    assert witness is not None and witness.route is Route.SENT
    assert detector.witness(original[0].footprint) is None
    kept = {path.relative_to(folder) for path in (folder / "repository").rglob("*")}
    assert kept == {path.relative_to(EXAMPLE) for path in (EXAMPLE / "repository").rglob("*")}
    assert (folder / "repository" / "VERSION").read_text() == "1.3.0\n"
