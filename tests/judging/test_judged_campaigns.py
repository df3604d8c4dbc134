"""Model judges in whole runs: what they cost, what their failures do, and what is not taken for the agent's."""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut._base.errors import RunError, UsageError
from agentmut.cli.verbs.resume_verb import choose_run
from agentmut.nouns.result import Result
from agentmut.project.loading import load_project
from agentmut.report.terminal.run_page import render
from agentmut.report.terminal.verdicts_page import render_verdicts
from agentmut.stats.three_valued import Verdict
from agentmut.usecases.campaigns import carry_out_campaign, measure, stored_plan
from agentmut.usecases.runtime import opened
from agentmut.usecases.suite_verdicts import check_suite
from tests.judging_services import Bench, verdict

pytestmark = pytest.mark.whole

pytest.importorskip("openai")

AGENT = """
from pathlib import Path
from agentmut.recording.current import current_trial

RUNS = Path(__file__).with_name("runs.txt")


def run(config, input):
    with RUNS.open("a") as runs:
        runs.write("x")
    good = "say thirty" in config.prompt
    return f"{'30' if good else 'some'} days, says {current_trial().id}"
"""


class Desk:
    """A project whose agent answers differently in every trial, so that each answer is judged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.module = "judged_" + hashlib.sha256(str(folder).encode()).hexdigest()[:10]

    def write(self, judge: dict[str, Any] | None = None, **sections: Any) -> Path:
        sys.modules.pop(self.module, None)
        (self.folder / f"{self.module}.py").write_text(AGENT)
        (self.folder / "prompt.md").write_text("- Always say thirty.\n- Never provide topic number 1.\n")
        asked = {"model": "openai:m", "question": "Does it say 30 days?", "retries": 0, **(judge or {})}
        scenario = {"name": "days", "input": "How long?", "evaluators": [{"judge": asked}]}
        (self.folder / "scenarios.yaml").write_text(yaml.safe_dump([scenario]))
        project = {
            "version": 1,
            "agent": {"adapter": "python", "run": f"{self.module}:run", "config": {"prompt": "prompt.md"}},
            "suite": {"scenarios": "scenarios.yaml", "threshold": 0.8},
            "test": {"method": "fixed", "trials": 20},
            "mutation": {"operators": ["prompt.drop_instruction"]},
            "statistics": {"n_max": 20, "baseline": 12, "delta": 0.5},
            "execution": {"concurrency": 4, "retries": 0},
            "budget": {"prices": {"m": {"input": 1.0, "output": 2.0}}},
        }
        for name, section in sections.items():
            project[name] = {**project.get(name, {}), **section}  # type: ignore[dict-item]
        (self.folder / "agentmut.yaml").write_text(yaml.safe_dump(project))
        return self.folder

    @property
    def runs(self) -> int:
        return len((self.folder / "runs.txt").read_text())


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def answer(asked: dict[str, Any]) -> str:
    return str(json.loads(asked["messages"][1]["content"])["assistant"][0])


def says_thirty(asked: dict[str, Any]) -> Any:
    return verdict(answer="30 days" in answer(asked))


def test_what_a_judge_takes_stands_beside_what_the_agent_took_and_is_paid_once(
    desk: Desk, bench: Bench
) -> None:
    bench.says = says_thirty
    report = check_suite(desk.write())
    (use,) = report.judges
    assert report.verdict is Verdict.PASS and len(bench.asked) == 20
    # 20 questions of 30 and 10 tokens, at 1 and 2 dollars a million
    assert (use.questions, use.input_tokens, use.output_tokens, use.usd) == (20, 600, 200, 0.001)
    assert report.cost.tokens == 0 and report.cost.usd == 0
    line = "judge openai:m: 20 questions, 800 tokens, $0.0010, in addition to the agent's runs"
    assert line in " ".join(render_verdicts(report).split())
    again = check_suite(desk.folder)
    (use,) = again.judges
    assert (use.questions, use.reused, use.usd) == (0, 20, 0) and len(bench.asked) == 20 and desk.runs == 20


def test_a_judge_that_fails_now_and_then_costs_evidence_but_neither_run_nor_verdict(
    desk: Desk, bench: Bench
) -> None:
    def sometimes(asked: dict[str, Any]) -> Any:
        return 429 if answer(asked)[-1] in "0123" else says_thirty(asked)

    bench.says = sometimes
    (row,) = check_suite(desk.write()).scenarios
    lost = row.outcomes["not_judged"]
    assert lost > 0 and row.outcomes == {"pass": row.passes, "not_judged": lost} and row.passes == row.trials
    assert row.passes + lost == desk.runs
    runs, bench.says = desk.runs, says_thirty
    (row,) = check_suite(desk.folder).scenarios
    # what was not judged is judged now, and not run again
    assert row.outcomes == {"pass": 20} and desk.runs == runs


def test_a_dead_judge_ends_the_run_and_keeps_the_agents_runs(desk: Desk, bench: Bench) -> None:
    bench.says = lambda asked: 503
    with pytest.raises(RunError, match="could not be judged"):
        check_suite(desk.write(test={"trials": 60}))
    runs, bench.says = desk.runs, says_thirty
    assert 25 <= runs < 60
    (row,) = check_suite(desk.folder).scenarios
    assert row.passes == 60 and desk.runs <= 60 + 4  # those under way were given up


def test_a_campaign_is_judged_by_a_model_whose_requests_are_not_the_agents(desk: Desk, bench: Bench) -> None:
    bench.says = says_thirty
    found: Result = measure(desk.write())
    statuses = {row.description: row.status.value for row in found.mutants}
    assert sorted(statuses.values()) == ["killed", "survived"]
    assert found.cost.tokens == 0 and found.judges[0].questions == len(bench.asked) > 20
    assert "in addition to the agent's runs" in " ".join(render(found).split())


def test_a_rate_is_corrected_by_labels_and_the_report_says_so(desk: Desk, bench: Bench) -> None:
    """A judge that passes 9 of 10 good answers and 1 of 5 bad ones; the agent is always right."""

    def noisy(asked: dict[str, Any]) -> Any:
        said = answer(asked)
        luck = int(hashlib.sha256(said.encode()).hexdigest()[:8], 16) / 2**32
        return verdict(answer=luck < (0.9 if "30 days" in said else 0.2))

    bench.says = noisy
    rows = [{"answer": f"30 days, {i}", "human": True} for i in range(20)]
    rows += [{"answer": f"some days, {i}", "human": False} for i in range(20)]
    (desk.folder / "labels.jsonl").write_text("\n".join(map(json.dumps, rows)))
    report = check_suite(desk.write({"calibration": "labels.jsonl"}, test={"trials": 30}))
    (row,) = report.scenarios
    (judged,) = row.judged
    assert (judged.labels, judged.trials, report.judges[0].questions) == (40, 30, 70)
    assert judged.corrected is not None and judged.corrected.estimate is not None
    assert judged.passes / 30 < 0.96 and judged.corrected.low < 1 == judged.corrected.high
    assert judged.corrected.estimate > judged.passes / 30
    assert (judged.different, judged.note) == (30, "")
    shown = " ".join(render_verdicts(report).split())
    assert f"judge openai:m: {judged.passes}/30 passed; corrected for its errors" in shown


def test_a_budget_in_money_covers_judges(desk: Desk, bench: Bench) -> None:
    bench.says = says_thirty
    with pytest.raises(UsageError, match=r"budget.usd needs a price for model n"):
        check_suite(desk.write({"model": "openai:n"}, budget={"usd": 0.0004}))
    report = check_suite(desk.write(budget={"usd": 0.0004}))
    assert report.status == "budget" and report.judges[0].usd is not None and report.judges[0].usd <= 0.0006


def resumed(folder: Path) -> Result:
    project = load_project(folder)
    with opened(project) as (session, store):
        return carry_out_campaign(session, stored_plan(session, choose_run(store.runs(), None)), store)


def test_a_resumed_run_has_what_its_judges_cost_before_within_its_budget(desk: Desk, bench: Bench) -> None:
    """A trial's judgement costs 0.00005: 2 dollars a million of 10 tokens, and 1 of 30."""
    bench.says = says_thirty
    first = measure(desk.write(budget={"usd": 0.0007}))
    assert first.status == "budget" and 0.0006 <= 0.00005 * len(bench.asked) <= 0.0009
    asked = len(bench.asked)
    assert resumed(desk.folder).status == "budget"
    assert len(bench.asked) == asked  # nothing is left to spend
    resumed(desk.write(budget={"usd": 0.0009}))
    assert asked < len(bench.asked) <= 18


def test_a_correction_by_few_different_answers_says_so(desk: Desk, bench: Bench) -> None:
    bench.says = says_thirty
    rows = [{"answer": f"{said} days", "human": said == "30"} for said in ("30", "some") * 10]
    (desk.folder / "labels.jsonl").write_text("\n".join(map(json.dumps, rows)))
    desk.write({"calibration": "labels.jsonl"}, test={"trials": 30})
    code = (desk.folder / f"{desk.module}.py").read_text()
    (desk.folder / f"{desk.module}.py").write_text(code.replace("current_trial().id", "len(config.prompt)"))
    report = check_suite(desk.folder)
    (judged,) = report.scenarios[0].judged
    assert (judged.different, judged.trials) == (1, 30)
    assert "only 1 of 30 answers differ" in judged.note
    assert "only 1 of 30 answers differ" in " ".join(render_verdicts(report).split())


def test_a_wrong_key_ends_the_run_at_once(desk: Desk, bench: Bench) -> None:
    bench.says = lambda asked: 401
    with pytest.raises(RunError, match="check the model's name, the key"):
        check_suite(desk.write())
    assert desk.runs < 20


def test_a_run_with_secrets_that_could_not_be_judged_is_run_again(
    desk: Desk, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_SECRET", "30 days, says")  # in every answer
    bench.says = lambda asked: 429 if len(bench.asked) <= 5 else says_thirty(asked)
    (row,) = check_suite(desk.write()).scenarios
    assert row.outcomes["not_judged"] == 5
    before = desk.runs
    (row,) = check_suite(desk.folder).scenarios
    assert row.outcomes == {"pass": 20}
    again = desk.runs
    assert again > before
