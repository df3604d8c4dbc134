"""Real agents on the simulator: a relation finds the fault that it speaks of, and leaves the correct agent alone.

`benchmarks/relations.py` has both over many repetitions (docs/relations-study.md); here each fault is looked for once.
"""

import pytest

from agentmut.seams.plugins import Catalogue, Group
from agentmut.store.documents.relation_report import Finding
from tests.quality.faulty_agents.cases import Case, check
from tests.quality.faulty_agents.registry import CASES

pytestmark = pytest.mark.whole

pytest.importorskip("openai")
FIRST = {case.relation: case for case in reversed(CASES)}
"""The first fault of each relation."""
FEW = list(FIRST.values())[::4]
"""So many of the correct agents are tried here."""
DENYING = [case for case in CASES if case.planted.startswith("denies")]


@pytest.fixture(autouse=True)
def on_the_simulator(simulator_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", simulator_url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")


def findings(case: Case, correct: bool) -> set[Finding]:
    return {row.finding for row in check(case, case.correct if correct else case.faulty).rows}


@pytest.mark.parametrize("case", FIRST.values(), ids=lambda case: case.name)
def test_the_planted_fault_of_a_real_agent_is_found(case: Case) -> None:
    assert findings(case, correct=False) == {Finding.FAIL}


@pytest.mark.parametrize("case", FEW, ids=lambda case: case.name)
def test_the_correct_agent_that_talks_at_length_is_not_flagged(case: Case) -> None:
    assert Finding.FAIL not in findings(case, correct=True)


@pytest.mark.parametrize("case", DENYING[:2], ids=lambda case: case.name)
def test_an_answer_that_is_negated_is_caught(case: Case) -> None:
    assert findings(case, correct=False) == {Finding.FAIL}


def test_every_case_names_a_relation_that_there_is() -> None:
    assert {case.relation for case in CASES} <= set(Catalogue.from_group(Group.RELATIONS).names)
