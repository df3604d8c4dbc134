"""`agentmut report --format html` shows what lies beside `result.json`, and says what is damaged."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from agentmut._base.errors import UsageError
from agentmut._base.whole_files import write_json
from agentmut.insight.coverage.models import write_coverage
from agentmut.insight.coverage.nouns import Coverage
from agentmut.nouns.result_file import write_result
from agentmut.store.documents.relation_report import Counts, RelationKill, SurvivorsReport
from agentmut.store.documents.rescored import Rescored, write_rescored
from tests.report.test_html_report import result

RUN = "20260101-000000-abcd"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agentmut.yaml").write_text("version: 1\n")
    made = tmp_path / ".agentmut" / "runs" / RUN
    write_result(result(), made)
    return made


def report(folder: Path) -> Result:
    from agentmut.cli import app

    project = folder.parents[2]
    return CliRunner().invoke(app, ["report", "--project", str(project), "--format", "html"])


def test_coverage_and_what_was_judged_again_are_shown(folder: Path) -> None:
    shown = result()
    write_coverage(Coverage(overall=0.5, dimensions=(), covered=(), uncovered=(), traces=7), folder)
    again = Rescored(run_id=RUN, trials=16, before=shown.score, after=shown.score, result=shown)
    write_rescored(again, folder)
    page = report(folder).output
    assert "by 7 stored runs. Overall 0.50." in page
    assert "16 stored trials give a score of 0.50 [0.25, 0.75]" in page


def test_relations_of_another_run_on_its_survivors_are_shown(folder: Path) -> None:
    shown = result()
    kill = RelationKill(
        mutant="aaaa0001",
        operator="prompt.drop_instruction",
        relation="oracle.format",
        scenario="refund",
        violations=9,
        pairs=10,
        original=Counts(violations=0, pairs=20),
    )
    found = SurvivorsReport(
        agentmut_version="0",
        run_id="20260102-000000-abcd",
        campaign=RUN,
        status="finished",
        survivors=1,
        tried=1,
        kills=(kill,),
        score=shown.score,
        score_with_relations=None,
        cost=shown.cost,
    )
    write_json(found, folder.parent / found.run_id / "relations.json", "nothing")
    (folder.parent / "20260103-000000-abcd").mkdir()
    (folder.parent / "20260103-000000-abcd" / "relations.json").write_text("{")  # of another run
    page = report(folder).output
    assert "1 of 1 survivor could be compared; 1 violate" in page
    assert "9/10" in page


@pytest.mark.parametrize("name", ["coverage.json", "rescored.json", "relations.json"])
def test_a_damaged_file_is_named_with_what_to_do(folder: Path, name: str) -> None:
    (folder / name).write_text("{")
    error = report(folder).exception
    assert isinstance(error, UsageError)
    assert str(folder / name) in str(error)
