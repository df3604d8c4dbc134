"""Real tasks of inspect_ai: what their scorers say of the agent, and which losses they notice."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut._base.errors import UsageError
from agentmut.campaign.preparation.executors import local_executor
from agentmut.campaign.preparation.session import open_session
from agentmut.nouns.execution import Ending, Execution
from agentmut.project.loading import load_project
from agentmut.seams.protocols.suite import SuiteSpec
from agentmut.stats.three_valued import Verdict
from agentmut.suites.inspect_ai.stopping import SequentialStopping
from agentmut.suites.inspect_ai.suite import InspectSuite
from agentmut.trial.executor import TrialRequest
from agentmut.usecases.campaigns import measure

# importing it is slow
pytestmark = pytest.mark.skipif(not find_spec("inspect_ai"), reason="inspect_ai is not installed")
ROOT = Path(__file__).parents[2]
DESK = ROOT / "tests" / "testdata" / "inspect_desk"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the project, where inspect_ai's own folders are in a place of the test's."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    before = list(sys.path)
    shutil.copytree(DESK, tmp_path / "desk", ignore=shutil.ignore_patterns(".*", "__pycache__"))
    yield tmp_path / "desk"
    sys.path[:] = before


@pytest.mark.whole
def test_an_inspect_task_shows_the_rule_that_no_scorer_checks_and_no_noisy_scorer_is_called_a_gap(
    project: Path, simulator_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{simulator_url}/v1")
    result = measure(project)
    assert {row.scenario for row in result.baseline} == {"refund", "2"}
    assert {row.description: row.status for row in result.mutants} == {
        'drop "Say that the shop opens at 9 am."': "killed",
        'drop "Say that a refund takes 5 days."': "killed",
        'drop "Never promise a delivery date."': "survived",
    }
    assert {row.witness.route for row in result.mutants if row.witness} == {"sent"}
    left = [path for path in project.parent.rglob("*") if path.is_file() and project not in path.parents]
    assert left == []  # no log, no trace, no cached answer
    assert not (project / "logs").exists()


def settled(project: Path, suite: str) -> Any:
    file = project / "agentmut.yaml"
    written = file.read_text().replace("inspect: evals/desk.py@desk", f"inspect: {suite}")
    file.write_text(written.replace("    model: {name: sim-large}\n", ""))
    return open_session(load_project(project))


def ran(session: Any, name: str) -> Execution:
    """One run in this process."""

    async def run() -> Execution:
        executor = local_executor(session)
        async with executor.session():
            return await executor.execute(TrialRequest(None, name, f"t-{name}"))

    return asyncio.run(run())


def test_a_task_that_takes_the_config_is_built_from_it_and_its_crash_is_no_evidence(project: Path) -> None:
    session = settled(project, "{task: evals/desk.py@told, pass_score: {words: 2}}")
    assert session.adapter.default_route == "rebuild"
    done = ran(session, "open")
    assert done.ending is Ending.ANSWERED
    assert done.trace.output == "9 am" and done.footprint.reads == ("prompt",)
    assert {check.evaluator: check.passed for check in done.trace.checks} == {
        "includes": True,
        "counted": True,
    }
    crashed = ran(session, "crash")
    assert crashed.ending is Ending.CASE_ERROR and "the agent cannot do that" in crashed.reason


@pytest.mark.process
def test_a_process_loads_what_inspect_ai_needs_before_its_first_trial(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from agentmut.suites.inspect_ai.evaluation import be_quiet, warm_up\n"
        "be_quiet()\n"
        "warm_up('openai/gpt-4o')\n"  # without a key: no reason to stop here
        "print('inspect_ai.model._providers.openai' in sys.modules, 'inspect_ai._eval.task.run' in sys.modules)\n"
    )
    own = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=own, cwd=tmp_path, check=False
    )
    assert done.stdout == "True True\n", done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_exception_of_a_solver_is_a_failure_where_the_project_says_so(project: Path) -> None:
    session = settled(project, "{task: evals/desk.py@told, pass_score: 1, raised: fail}")
    assert ran(session, "crash").ending is Ending.RAISED


SANDBOXED = """
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import solver
from inspect_ai.util import sandbox

@solver
def looks():
    async def solve(state, generate):
        state.output.completion = (await sandbox().exec(["sh", "-c", "pwd; cat note.txt; touch mine"])).stdout
        return state
    return solve

@task
def boxed(kind="local"):
    sample = Sample(input="What does the note say?", target="tea", id="note", files={"note.txt": "tea"})
    return Task(dataset=MemoryDataset([sample]), solver=looks(), scorer=includes(), sandbox=kind)

@task
def in_docker():
    return boxed(kind="docker")
"""


def test_the_sandbox_of_a_task_is_its_own_for_each_trial_and_goes_with_it(project: Path) -> None:
    (project / "evals" / "boxed.py").write_text(SANDBOXED)
    session = settled(project, "evals/boxed.py@boxed")
    (first, said), (second, again) = (str(ran(session, "note").trace.output).split("\n") for _ in range(2))
    assert (said, again) == ("tea", "tea")
    assert first != second
    assert not Path(first).exists() and not Path(second).exists()


def test_a_sandbox_without_its_engine_is_no_evidence_and_says_what_is_missing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "evals" / "boxed.py").write_text(SANDBOXED)
    session = settled(project, "evals/boxed.py@in_docker")
    monkeypatch.setenv("PATH", str(project))
    done = ran(session, "note")
    assert not done.ending.is_final, done
    assert "docker" in done.reason.lower()


def test_a_solver_of_the_project_takes_the_place_of_the_tasks(project: Path) -> None:
    sys.path.insert(0, str(project / "evals"))
    session = settled(project, "{task: evals/desk.py@untold, solver: 'desk:says'}")
    done = ran(session, "open")
    assert (done.ending, done.trace.output) == (Ending.ANSWERED, "9 am")
    for judge, said in (("broken", "the judge is out"), ("counted", "pass_score")):
        args = f"{{task: evals/desk.py@untold, solver: 'desk:says', args: {{judge: {judge}}}}}"
        suite = InspectSuite.create(
            SuiteSpec(kind="inspect", argument=yaml.safe_load(args), root=str(project))
        )
        adapter = suite.adapter(session.project.agent, session.project.config)
        assert adapter is not None
        failed = ran(session._replace(adapter=adapter), "open")
        if judge == "broken":
            assert failed.ending is Ending.CASE_ERROR and said in failed.reason
        else:  # the count has no least score, but politeness passes
            assert failed.ending is Ending.ANSWERED


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("evals/none.py@desk", "there is no file evals/none.py"),
        ("evals/desk.py", "holds 3 tasks"),
        ("evals/desk.py@dusk", "no task 'dusk'. Did you mean 'desk'"),
        (
            {"task": "evals/desk.py@desk", "samples": ["refunds"]},
            "no sample 'refunds'. Did you mean 'refund'",
        ),
        ({"task": "evals/desk.py@desk", "ignore": ["seldom_wrong"]}, "has no scorer that judges"),
        ({"task": "evals/desk.py@desk", "scores": 1}, "unknown key 'scores'"),
        ({"task": "evals/desk.py@desk", "limit": 0}, "suite.inspect.limit"),
        ({}, "suite.inspect.task: is missing"),
    ],
)
def test_a_mistake_in_the_section_is_told(project: Path, argument: Any, said: str) -> None:
    with pytest.raises(UsageError) as error:
        suite = InspectSuite.create(SuiteSpec(kind="inspect", argument=argument, root=str(project)))
        suite.scenarios()
    assert said in str(error.value)


def test_without_inspect_ai_the_error_has_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'agentmut\[inspect\]'"):
        InspectSuite.create(SuiteSpec(kind="inspect", argument="evals/desk.py@desk"))


def evaluated(stopping: SequentialStopping, outcomes: list[bool | None], folder: Path) -> Any:
    """A real eval of one sample with these outcomes by epoch, None for an epoch that ends with an error."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
    from inspect_ai.solver import Generate, Solver, TaskState, solver

    @solver
    def nothing() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            if outcomes[state.epoch - 1] is None:
                raise ValueError("no answer")
            return state

        return solve

    @scorer(metrics=[accuracy()])
    def planned() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            return Score(value="C" if outcomes[state.epoch - 1] else "I")

        return score

    task = Task([Sample(id="x", input="x")], solver=nothing(), scorer=planned(), epochs=len(outcomes))
    task.early_stopping = stopping
    (log,) = eval(
        task, model=None, max_samples=1, log_dir=str(folder), display="none", fail_on_error=False,
        log_realtime=False, ctl_server=False,
    )  # fmt: skip
    return log


def test_sequential_stopping_ends_the_epochs_of_a_sample_once_its_rate_is_decided(project: Path) -> None:
    # 14 passes suffice at threshold 0.9 with Wald's boundaries, alpha 0.05 and beta 0.2: 14 log(9/8) > log(0.95/0.2)
    wald = SequentialStopping(0.9, beta=0.2, boundaries="wald")
    log = evaluated(wald, [True] * 20, project)
    assert log.status == "success" and len(log.samples) == 14
    summary = log.results.early_stopping
    assert summary.metadata["samples"]["x"] == {"verdict": "PASS", "epochs": 14, "failures": 0, "run": 14}
    assert [stop.epoch for stop in summary.early_stops] == list(range(15, 21))
    # log(1/0.05) / log(0.2/0.1) = 4.3 failures, as the bounds that hold exactly have it
    log = evaluated(SequentialStopping(0.9), [False] * 9, project)
    assert log.results.early_stopping.metadata["samples"]["x"]["epochs"] == 5


def test_an_epoch_without_an_outcome_can_be_either_and_never_hastens_a_decision() -> None:
    stopping = SequentialStopping(0.9, beta=0.2, boundaries="wald")
    assert stopping._decision([True] * 13) is None
    assert stopping._decision([True] * 14) == (Verdict.PASS, 14, 0)
    # it might have been a failure: log 2 / log(9/8) = 5.9 more passes are needed, and it is counted itself
    assert stopping._decision([None, *[True] * 19]) is None
    assert stopping._decision([None, *[True] * 20]) == (Verdict.PASS, 21, 0)


def test_an_epoch_without_a_score_is_no_pass() -> None:
    from inspect_ai.scorer import SampleScore, Score

    async def unscored() -> Any:
        stopping = SequentialStopping(0.9, pass_score=0.5)
        for epoch in range(1, 31):
            await stopping.schedule_sample("x", epoch)
            nan = {"f1": SampleScore(score=Score(value=float("nan")))}
            await stopping.complete_sample("x", epoch, nan if epoch % 2 else {})
        return await stopping.complete_task()

    told = asyncio.run(unscored())["samples"]["x"]
    assert told == {"verdict": "INCONCLUSIVE", "epochs": 0, "failures": 0, "run": 30}


def test_a_score_that_neither_passes_nor_fails_is_refused() -> None:
    from inspect_ai.scorer import SampleScore, Score

    scores = {"f1": SampleScore(score=Score(value=0.4))}
    with pytest.raises(UsageError, match="pass_score"):
        asyncio.run(SequentialStopping(0.9).complete_sample("x", 1, scores))
    with pytest.raises(ValueError, match="pass_score expects a number"):
        SequentialStopping(0.9, pass_score="high")  # type: ignore[arg-type]
