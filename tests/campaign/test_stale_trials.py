"""What makes stored trials stale, and what does not."""

from typing import Any

import pytest

from agentmut.campaign.preparation.identity import RECORD_FORMAT, code_digest, endpoints, trial_id
from agentmut.usecases.campaigns import measure, rescore

pytestmark = pytest.mark.whole

TOOLS = '[{"name": "lookup", "description": "Look it up.", "parameters": {"type": "object"}}]'
JUDGES = "def fair(scenario, trace):\n    return scenario.name in trace.text\n"
RELATES = """
from agentmut.seams.make_relation import example, plain_text, relation
from agentmut.nouns.relation import FollowUp, FollowUpRun


@relation(
    "perturbation.shouting", why="Capitals change the answer.", lack=plain_text,
    examples=[
        example("Can I?", "Yes, within 30 days.", "Yes, 30 days.", holds=True),
        example("Can I?", "Yes, within 30 days.", "No, that is not possible.", holds=False),
    ],
)
def shouting(source):
    turns = tuple(turn.upper() for turn in source.scenario.turns)
    return FollowUp(runs=(FollowUpRun(turns=turns),), description="in capitals")
"""


def first_run(projects: Any, **changes: Any) -> None:
    result = measure(write(projects, **changes))
    assert result.cost.trials > 50


def destroyed_trials(result: Any) -> int:
    """Without prompt and tools, the agent is the same as before."""
    trials: int = result.controls.destroyed.trials
    return trials


def write(projects: Any, tools: str = TOOLS, judges: str = JUDGES, **changes: Any) -> Any:
    (projects.folder / "tools.json").write_text(tools)
    (projects.folder / f"judges_{projects.module}.py").write_text(judges)
    config = {"prompt": "prompt.md", "tools": "tools.json", **changes.pop("config", {})}
    return projects.write(("alpha",), idle=0, agent_section={"config": config}, **changes)


def test_a_change_of_the_agents_python_file_makes_trials_stale(projects: Any) -> None:
    first_run(projects)
    assert measure(write(projects, extra="\n# another comment\n")).cost.reused == 0


def test_a_change_of_another_python_file_of_the_project_makes_trials_stale(projects: Any) -> None:
    first_run(projects)
    (projects.folder / "helper.py").write_text("RATE = 1\n")
    assert measure(projects.load()).cost.reused == 0


def test_a_change_of_a_tool_schema_makes_trials_stale(projects: Any) -> None:
    first_run(projects)
    again = measure(write(projects, tools=TOOLS.replace("Look it", "Look this")))
    assert again.cost.reused == destroyed_trials(again)


def test_a_change_of_the_endpoint_makes_trials_stale(projects: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1")
    first_run(projects)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8001/v1")
    assert measure(projects.load()).cost.reused == 0
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1")
    assert measure(projects.load()).cost.trials == 0


def test_trials_in_an_older_format_are_stale(projects: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first_run(projects)
    monkeypatch.setattr("agentmut.campaign.preparation.identity.RECORD_FORMAT", RECORD_FORMAT + 1)
    assert measure(projects.load()).cost.reused == 0


def test_a_change_of_the_prompt_makes_trials_stale(projects: Any) -> None:
    first_run(projects)
    path = projects.folder / "prompt.md"
    path.write_text(path.read_text() + "- Be brief.\n")
    again = measure(projects.load())
    assert again.cost.reused == destroyed_trials(again)


def test_a_change_of_the_model_makes_trials_stale(projects: Any) -> None:
    first_run(projects)
    assert measure(write(projects, config={"model": {"temperature": 0.2}})).cost.reused == 0


def test_a_change_of_the_timeout_makes_trials_stale(projects: Any) -> None:
    first_run(projects)
    assert measure(write(projects, execution={"timeout": 5})).cost.reused == 0


def test_another_function_of_the_same_module_is_another_agent(projects: Any) -> None:
    extra = "\nother = run\n"
    first_run(projects, extra=extra)
    agent = {"run": f"{projects.module}:other", "config": {"prompt": "prompt.md", "tools": "tools.json"}}
    assert measure(projects.write(("alpha",), idle=0, extra=extra, agent_section=agent)).cost.reused == 0


def test_a_change_of_what_is_asked_makes_that_scenarios_trials_stale(projects: Any) -> None:
    measure(projects.write(("alpha", "beta"), idle=0))

    def scenario(word: str) -> dict[str, Any]:
        return {"input": "kindly say alpha"} if word == "alpha" else {}

    again = measure(projects.write(("alpha", "beta"), idle=0, scenario=scenario))
    assert again.cost.baseline_trials == 40
    assert again.cost.reused >= 40


def test_a_declared_version_of_the_agent_replaces_the_hash_of_its_files(projects: Any) -> None:
    agent = {
        "adapter": "python",
        "version": "7",
        "run": f"{projects.module}:run",
        "config": {"prompt": "prompt.md"},
    }
    measure(projects.write(("alpha",), agent_section=agent))
    same = measure(projects.write(("alpha",), extra="\n# comment\n", agent_section=agent))
    assert (same.cost.trials, same.cost.reused > 50) == (0, True)
    newer = measure(projects.write(("alpha",), agent_section={**agent, "version": "8"}))
    assert newer.cost.reused == 0


def test_a_change_of_the_threshold_needs_no_new_trial_but_runs_after_kills(projects: Any) -> None:
    first_run(projects)
    again = measure(write(projects, scenario=lambda word: {"threshold": 0.5}))
    # a CI job of ten runs is red after six failures now, and not after two: only runs after kills are new
    jobs = [job.trials for row in again.mutants for job in row.ci_jobs]
    assert jobs and again.cost.trials < sum(jobs)
    assert again.cost.reused > 50


EVALUATOR_CHANGES: dict[str, Any] = {
    "argument of an evaluator": {"evaluators": [{"contains": "alph"}]},
    "another evaluator": {"evaluators": [{"contains": "alpha"}, {"not_contains": "idea"}]},
}


@pytest.mark.parametrize("change", EVALUATOR_CHANGES.values(), ids=EVALUATOR_CHANGES)
def test_a_change_of_evaluators_is_shown_on_stored_trials_and_decided_by_new_ones(
    projects: Any, change: dict[str, Any]
) -> None:
    first_run(projects)
    project = write(projects, scenario=lambda word: change)
    assert rescore(project).trials > 50
    assert measure(project).cost.reused == 0


def test_a_change_of_an_evaluators_own_module_needs_no_new_trial(projects: Any) -> None:
    evaluators = {"evaluators": [{"python": f"judges_{projects.module}:fair"}]}
    first_run(projects, scenario=lambda word: evaluators)
    changed = JUDGES + "# a comment\n"
    again = measure(write(projects, judges=changed, scenario=lambda word: evaluators))
    assert (again.cost.trials, again.cost.reused > 50) == (0, True)


def test_an_evaluators_module_that_the_agent_imports_counts_as_the_agents_code(projects: Any) -> None:
    evaluators = {"evaluators": [{"python": f"judges_{projects.module}:fair"}]}
    extra = f"\nimport judges_{projects.module}\n"
    first_run(projects, scenario=lambda word: evaluators, extra=extra)
    changed = JUDGES + "# a comment\n"
    again = measure(write(projects, judges=changed, scenario=lambda word: evaluators, extra=extra))
    assert again.cost.reused == 0


def test_an_evaluator_in_the_agents_own_module_hides_no_change_of_the_agent(projects: Any) -> None:
    evaluators = {"evaluators": [{"contains": "alpha"}, {"python": f"{projects.module}:fair"}]}
    first_run(projects, scenario=lambda word: evaluators, extra=JUDGES)
    again = measure(write(projects, scenario=lambda word: evaluators, extra=f"{JUDGES}# a comment\n"))
    assert again.cost.reused == 0


def test_the_module_of_a_relation_is_no_code_of_the_agent(projects: Any) -> None:
    first_run(projects)
    (projects.folder / f"relates_{projects.module}.py").write_text(RELATES)
    again = measure(write(projects, relations={"own": [f"relates_{projects.module}:shouting"]}))
    assert (again.cost.trials, again.cost.reused > 50) == (0, True)


def test_credentials_in_endpoints_are_left_out() -> None:
    found = endpoints({"OPENAI_BASE_URL": "https://user:secret@host.example:444/v1?key=abc", "HOME": "/x"})
    assert found == {"OPENAI_BASE_URL": "https://host.example:444/v1"}


def test_a_malformed_endpoint_is_no_crash() -> None:
    assert endpoints({"OPENAI_BASE_URL": "http://host:port/v1"}) == {"OPENAI_BASE_URL": "http://host:port/v1"}


def test_dangling_links_and_foreign_folders_are_no_part_of_the_code(tmp_path: Any) -> None:
    (tmp_path / "a.py").write_text("A = 1\n")
    before = code_digest(tmp_path)
    (tmp_path / ".#b.py").symlink_to("nowhere")
    for folder in (".venv", "node_modules", "env"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "c.py").write_text("C = 1\n")
    (tmp_path / "env" / "pyvenv.cfg").touch()
    assert code_digest(tmp_path) == before
    (tmp_path / "b.py").write_text("A = 1\n")
    assert code_digest(tmp_path) != before


def test_trial_ids_depend_on_seed_mutant_scenario_and_repeat_only() -> None:
    ids = {trial_id(*parts) for parts in [(1, "m", "s", 0), (2, "m", "s", 0), (1, "n", "s", 0)]}
    ids |= {trial_id(1, "m", "t", 0), trial_id(1, "m", "s", 1)}
    assert len(ids) == 5
    assert trial_id(1, "m", "s", 0) == trial_id(1, "m", "s", 0)
