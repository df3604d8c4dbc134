"""The time of day may be set while a campaign runs: it decides nothing, and no budget goes by it."""

import time
from itertools import count
from pathlib import Path

from agentmut.campaign import Selection, Stop, make_mutants, make_plan, open_session, register, run_work
from agentmut.campaign.decision.state import CampaignState
from agentmut.campaign.preparation.tables import Tables
from agentmut.project.loading import load_project
from agentmut.usecases.runtime import open_store

DAY = 86_400.0


def test_a_clock_that_jumps_by_days_ends_no_run(tmp_path: Path) -> None:
    (tmp_path / "jumped_agent.py").write_text(
        "def run(config, input):\n    return 'hello' if 'hello' in config.prompt else 'no'\n"
    )
    (tmp_path / "s.yaml").write_text("- {name: s, input: hi, evaluators: [{contains: hello}]}\n")
    (tmp_path / "agentmut.yaml").write_text(
        "version: 1\nagent: {adapter: python, run: 'jumped_agent:run', config: {prompt: '- Say hello.\\n- Be kind.'}}\n"
        "suite: {scenarios: s.yaml}\nmutation: {operators: [prompt.drop_instruction]}\n"
        "statistics: {baseline: 20, n_max: 20, rounds: one}\nbudget: {minutes: 10}\n"
    )
    jumps = count()

    def jumping() -> float:
        return 1.8e9 + DAY * (next(jumps) % 3 - 1)

    project = load_project(tmp_path)
    with open_store(project) as store:
        session = open_session(project)
        plan = make_plan(session, make_mutants(session, Selection()), 1, jumping())
        register(store, plan)
        state = CampaignState(plan, session.suite, session.tests.scenarios, Tables.from_project(project))
        stop = run_work(session, state, store, now=jumping, elapsed=time.monotonic)
        noted = store.spent(plan.run_id).seconds
    assert stop is Stop.FINISHED
    assert 0 < state.spend.seconds < DAY / 24
    assert 0 <= noted < DAY / 24
