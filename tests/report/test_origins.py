"""Every report says what share of its evidence is foreign, by the counts of its runs."""

import json
from collections.abc import Callable

import pytest

from agentmut.nouns.foreign import Origins
from agentmut.nouns.mutant import Status
from agentmut.nouns.result import Cost
from agentmut.nouns.result_figures import Score
from agentmut.report.files.junit import junit_report
from agentmut.report.files.markdown import markdown_report
from agentmut.report.files.outcome_files import outcomes_as
from agentmut.report.files.verdicts_markdown import verdicts_markdown
from agentmut.report.html.page import html_report
from agentmut.report.terminal.gate_page import render_gate
from agentmut.report.terminal.relations_page import render_relations
from agentmut.report.terminal.run_page import render
from agentmut.report.terminal.trend_page import render_trend
from agentmut.report.terminal.verdicts_page import render_verdicts
from agentmut.store import Finding, RelationReport, VerdictReport
from agentmut.usecases.gate_decision import Decision, GateReport
from agentmut.usecases.trend_rows import TrendReport, row_of
from tests.report.results import result, row
from tests.report.test_outcome_files import assessed, related, relation, verdict

MIXED = Cost(trials=6, baseline_trials=6, tokens=9, usd=0.1, seconds=1, reused=2, foreign=2)
"""Two of eight runs are foreign: six were executed now, and two were taken over."""
OWN = Cost(trials=6, baseline_trials=6, tokens=9, usd=0.1, seconds=1, reused=2)
SAID, NONE = (
    "Recorded by other tools: 2 of 8 runs (25 %).",
    "Recorded by other tools: 0 of 8 runs.",
)
TEXTS: dict[str, Callable[[Cost], str]] = {
    "test, terminal": lambda cost: render_verdicts(_tested(cost)),
    "test, comment": lambda cost: verdicts_markdown(_tested(cost)),
    "test, markdown": lambda cost: outcomes_as(_tested(cost), "markdown"),
    "test, html": lambda cost: outcomes_as(_tested(cost), "html"),
    "relations, terminal": lambda cost: render_relations(_related(cost)),
    "run, terminal": lambda cost: render(result(row("m", Status.KILLED), cost=cost)),
    "run, markdown": lambda cost: markdown_report(result(row("m", Status.KILLED), cost=cost)),
    "gate": lambda cost: render_gate(_gate(cost)),
    "trend": lambda cost: render_trend(_trend(cost)),
}


def _tested(cost: Cost) -> VerdictReport:
    return assessed(verdict("a", "PASS"), cost=cost, settings={"method": "fixed", "trials": 30})


def _related(cost: Cost) -> RelationReport:
    settings = {"delta": 0.2, "tolerance": 0.1, "beta": 0.1}
    return related(relation("a", Finding.PASS)).model_copy(update={"cost": cost, "settings": settings})


def _gate(cost: Cost) -> GateReport:
    origins = Origins.together([cost.origins])
    return GateReport(
        agentmut_version="0", project="p", decision=Decision.DEPLOY, reasons=(), requirements=(),
        inconclusive="manual", origins=origins,
    )  # fmt: skip


def _trend(cost: Cost) -> TrendReport:
    rows = (row_of(_tested(cost), None, {}),)
    return TrendReport(
        agentmut_version="0", project="p", rows=rows, watches=(), false_alarm=0.0,
        origins=Origins.together(row.origins for row in rows),
    )  # fmt: skip


@pytest.mark.parametrize("where", TEXTS)
def test_a_text_says_the_share_of_foreign_runs(where: str) -> None:
    assert SAID in " ".join(TEXTS[where](MIXED).split())
    assert NONE in " ".join(TEXTS[where](OWN).split())


def test_a_page_and_files_for_machines_say_it() -> None:
    mixed = result(row("m", Status.KILLED), cost=MIXED)
    assert "2 of 8 (25 %)" in html_report(mixed)
    wanted = 'name="agentmut.evidence.foreign_share" value="0.25"'
    assert wanted in junit_report(mixed)
    assert wanted in outcomes_as(assessed(verdict("a", "PASS"), cost=MIXED), "junit")
    for document in (mixed, assessed(cost=MIXED)):
        origins = json.loads(document.model_dump_json())["cost"]["origins"]
        assert origins == {"runs": 8, "foreign": 2, "foreign_share": 0.25}


def test_the_share_follows_from_the_counts_whatever_a_document_says() -> None:
    written = MIXED.model_dump() | {"origins": {"runs": 1, "foreign": 1, "foreign_share": 1.0}}
    assert Cost.model_validate(written).origins == Origins(runs=8, foreign=2)
    earlier = MIXED.model_dump()
    del earlier["origins"]
    assert Cost.model_validate(earlier).origins.foreign_share == 0.25
    assert Origins().foreign_share == 0.0


@pytest.mark.parametrize("cost", [OWN, MIXED])
def test_the_id_of_a_run_stays_whole_in_eighty_columns_of_a_trend(cost: Cost) -> None:
    parts: dict[str, object] = {
        "run": "20261127-172831-6dff00",
        "passes": 1075,
        "trials": 1080,
        "runs_of_agent": 11520,
    }
    score = Score(value=0.67, low=0.67, high=1.0, killed=2, survived=1)
    (short,) = _trend(cost).rows
    long = short.model_copy(
        update={**parts, "pass_rate": 0.94, "score": score, "changed": ("agent", "suite")}
    )
    page = render_trend(_trend(cost).model_copy(update={"rows": (long,)}))
    (line,) = [one for one in page.splitlines() if "20261127-172831-6dff00" in one]
    assert "0.67 [0.67, 1.00]" in line
    assert max(map(len, page.splitlines())) <= 80
    assert (" foreign " in page) is (cost is MIXED)
