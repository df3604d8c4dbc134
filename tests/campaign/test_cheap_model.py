"""A cheap model decides all mutants, the agent's own model a random part: through `run`, on the simulator."""

from collections.abc import Callable
from typing import Any

import pytest

from agentmut._base.errors import UsageError
from agentmut.adapters.python_callable import CallableAdapter
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.mutant import Status
from agentmut.nouns.result import Cost
from agentmut.nouns.result_file import read_result
from agentmut.project.schema import BudgetSettings
from agentmut.seams import AgentSpec
from agentmut.simulator.service.background import Simulator
from agentmut.trial.on_wire import OnWire, as_mutant, on_model
from agentmut.usecases.campaigns import measure, rescore
from agentmut.usecases.cheap_model import budget_left
from agentmut.usecases.team import team_projects
from agentmut.usecases.trends import trend
from tests.report.results import result

AGENT = """
import os
import httpx


async def run(config, input):
    messages = [{"role": "system", "content": config.prompt}, {"role": "user", "content": input}]
    async with httpx.AsyncClient() as client:
        body = {"model": MODEL or config.model.name, "messages": messages}
        reply = await client.post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json=body)
    return reply.json()["choices"][0]["message"]["content"]


MODEL = ""
"""


@pytest.fixture(autouse=True)
def simulator(agentmut_simulator_factory: Callable[..., Simulator], monkeypatch: Any) -> Simulator:
    found = agentmut_simulator_factory(seed=3)
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    return found


def project(projects: Any, *, rules: int = 15, extra: str = "", **sections: dict[str, Any]) -> Any:
    """One scenario, three rules that it looks at, and others that nothing looks at."""
    words = ("alpha", "beta", "gamma")
    projects.write(
        ("hello",),
        agent=AGENT,
        extra=extra,
        scenario=lambda word: {"evaluators": [{"contains": "Take care!"}, {"contains": "Dear customer"}]},
        mutation={"proxy": {"model": "sim-medium", "part": 0.5}},
        statistics={"rounds": "auto", "baseline": "auto", "delta": 0.75},
        **sections,
    )
    idle = [f"- Never speak about the {word} programme of year {n}." for n in range(rules) for word in words]
    kept = [
        '- Always end every answer with "Take care!".',
        '- Always begin every answer with "Dear customer".',
    ]
    (projects.folder / "prompt.md").write_text("\n".join([*kept, *idle[:rules]]) + "\n")
    text = (projects.folder / "agentmut.yaml").read_text()
    (projects.folder / "agentmut.yaml").write_text(
        text.replace("prompt: prompt.md", "prompt: prompt.md\n    model: {name: sim-large}")
    )
    return projects.load()


def test_the_own_model_decides_a_part_and_the_score_speaks_of_all(projects: Any) -> None:
    loaded = project(projects)
    result = measure(loaded)
    found, score = result.cheap_model, result.score
    assert found is not None and (found.model, found.decided, found.both) == ("sim-medium", 17, 12)
    assert sum(row.status is Status.NOT_DRAWN for row in result.mutants) == score.not_drawn == 5
    # both models agree on the 12, and the cheap one kills one of the 5 others: lambda = 5/17, share = 3/17
    assert (found.rho, found.weight) == (1.0, round(5 / 17, 4))
    assert score.killed == 2 and score.value == pytest.approx(3 / 17, abs=1e-6)
    assert score.low is not None and score.high is not None and score.low <= 3 / 17 <= score.high < 1
    assert any(
        "correlate with rho = 1.00. For a score as precise, this saves 29 % of the mutants" in note
        for note in result.notes
    )
    cheap = read_result(loaded.runs / found.run_id / "result.json")
    assert found.trials == cheap.cost.trials and "sim-medium" in cheap.notes[0]
    trended = trend(loaded)
    assert [row.run for row in trended.rows] == [result.run_id]
    assert any(
        note.startswith(f"run {found.run_id} was left out: it asked a cheap") for note in trended.notes
    )
    (team,) = team_projects([loaded.root])
    assert [run.kind for run in team.runs] == ["cheap model", "run"] and team.campaigns == (result.run_id,)
    again = rescore(loaded).result
    assert (again.score, again.cheap_model) == (score, found)


def test_an_agent_that_asks_its_own_model_all_the_same_is_refused(projects: Any) -> None:
    with pytest.raises(UsageError, match=r"was not asked with sim-medium: its requests name sim-large"):
        measure(project(projects, extra="MODEL = 'sim-large'\n"))


def test_plans_that_leave_nothing_to_a_cheap_model_are_refused_before_a_trial(projects: Any) -> None:
    with pytest.raises(UsageError, match=r"saves nothing.*12 mutants at least, and the score counts 5"):
        measure(project(projects, rules=3))
    loaded = project(projects)
    with pytest.raises(UsageError, match=r"mutation\.proxy and statistics\.precision"):
        measure(loaded.to_precision(0.2))
    with pytest.raises(UsageError, match="leave out --shard"):
        measure(loaded, shard="1/2")


def test_an_agent_whose_requests_are_changed_asks_the_cheap_model_by_the_wire() -> None:
    config = AgentConfig(prompt="Be brief.", model=ModelConfig(name="dear"))
    own = CallableAdapter.create(
        AgentSpec(adapter="python", run="tests.campaign.test_passing_parts:run"), config
    )
    cheap = on_model(OnWire(own, config), "cheap")
    base = cheap.get_config()
    assert base.model.name == "cheap"
    unchanged = as_mutant(cheap, base, base)
    assert isinstance(unchanged, OnWire) and unchanged.agent.get_config().model.name == "dear"
    assert unchanged.rewriter() is not None  # each request is renamed, those of the baseline as well
    assert as_mutant(OnWire(own, config), config, config).rewriter() is None  # type: ignore[attr-defined]


def test_the_own_model_has_what_the_cheap_one_leaves_of_a_budget() -> None:
    cost = Cost(trials=40, baseline_trials=20, tokens=9, usd=1.5, seconds=120, reused=10)
    spent = result(cost=cost)
    left = budget_left(BudgetSettings(usd=5, trials=100, minutes=3), spent)
    assert (left.usd, left.trials, left.minutes) == (3.5, 70, 1.0)  # what was reused is not paid again
    assert budget_left(BudgetSettings(usd=1), spent) == BudgetSettings(usd=0.01)
    assert budget_left(BudgetSettings(), spent) == BudgetSettings()
