"""The number of function calls that agentmut makes for a trial. Unlike time, it is the same on a busy machine.

`benchmarks/overhead.py` measures the time. If a change makes more calls on purpose, raise `CALLS` and say why in the
commit; if it makes fewer, lower `CALLS`, so that the next change is compared with that.
"""

from pathlib import Path

import pytest

from agentmut import measure
from agentmut.campaign import Selection, make_mutants, make_plan, open_session, register
from agentmut.campaign.decision.state import CampaignState
from agentmut.project import load_project
from agentmut.usecases import carry_out_campaign, open_store
from tests.counted_calls import counted

pytestmark = pytest.mark.whole

CALLS = 638
"""Calls of functions of agentmut for one more trial of an agent that does nothing."""
TOLERANCE = 0.05
FEW, MANY = 90, 170

AGENT = "async def run(config, input):\n    return 'yes' if config.prompt else 'no'\n"
THREE_RULES = "Be brief. Never guess. Never shout."
PROJECT = """
version: 1
agent: {{adapter: python, run: "{module}:run", config: {{prompt: "{prompt}"}}}}
suite: {{scenarios: scenarios.yaml}}
mutation: {{operators: [prompt.drop_instruction]}}
statistics: {{baseline: 20, rounds: {rounds}}}
budget: {{trials: {trials}}}
"""


def write_project(
    folder: Path, trials: int, scenarios: int, prompt: str = THREE_RULES, rounds: str = "auto"
) -> None:
    """Write a project whose budget is so many trials."""
    folder.mkdir()
    module = f"calls_of_{trials}_{folder.name}"
    (folder / f"{module}.py").write_text(AGENT)
    cases = (f"- {{name: s{i}, input: hello, evaluators: [contains: 'yes']}}\n" for i in range(scenarios))
    (folder / "scenarios.yaml").write_text("".join(cases))
    text = PROJECT.format(module=module, trials=trials, prompt=prompt, rounds=rounds)
    (folder / "agentmut.yaml").write_text(text)


def calls_of(trials: int, folder: Path) -> int:
    """Count the calls of a campaign that its budget ends after so many trials."""
    write_project(folder, trials, scenarios=4)
    with counted() as count:
        result = measure(folder)
    assert result.cost.trials == trials
    return count.calls


def test_a_trial_takes_no_more_calls_than_the_reference(tmp_path: Path) -> None:
    calls_of(MANY, tmp_path / "first")  # imports, and what is kept for later campaigns
    few, many = calls_of(FEW, tmp_path / "few"), calls_of(MANY, tmp_path / "many")
    calls = (many - few) / (MANY - FEW)
    assert calls == pytest.approx(CALLS, rel=TOLERANCE)


def calls_after(folder: Path) -> dict[int, int]:
    """Carry the project's campaign out. Return the calls so far, by the number of trials so far."""
    project, calls = load_project(folder), dict[int, int]()
    with counted() as count, open_store(project) as store:
        session = open_session(project)
        plan = make_plan(session, make_mutants(session, Selection()), 1, 0.0)
        register(store, plan)

        def note(state: CampaignState) -> None:
            calls.setdefault(state.spend.trials, count.calls)

        carry_out_campaign(session, plan, store, progress=note)
    return calls


def calls_of_a_trial(calls: dict[int, int], begin: int, end: int) -> float:
    """Return the calls of one trial between two numbers of trials."""
    within = [trials for trials in sorted(calls) if begin <= trials <= end]
    first, last = within[0], within[-1]
    return (calls[last] - calls[first]) / (last - first)


def growth(folder: Path, trials: int, first: int) -> float:
    """Return the calls of a trial near the end of a campaign, as a share of those in its second tenth.

    The last hundredth is left out: with the last trial of the baseline the round of the mutants begins.
    """
    calls, tenth, end = calls_after(folder), (trials - first) // 10, trials - trials // 100
    early = calls_of_a_trial(calls, first + tenth, first + 2 * tenth)
    return calls_of_a_trial(calls, end - tenth, end) / early


def test_trials_of_many_scenarios_take_as_many_calls_at_the_end_as_at_the_start(tmp_path: Path) -> None:
    write_project(tmp_path / "long", trials=4000, scenarios=200, rounds="one")
    assert growth(tmp_path / "long", trials=4000, first=0) <= 1 + TOLERANCE


def test_trials_of_many_mutants_take_as_many_calls_at_the_end_as_at_the_start(tmp_path: Path) -> None:
    """The first 200 trials are the baselines, and 60 mutants have 50 trials each."""
    prompt = " ".join(f"Never talk about subject {i}." for i in range(60))
    write_project(tmp_path / "long", trials=3200, scenarios=10, prompt=prompt, rounds="one")
    assert growth(tmp_path / "long", trials=3200, first=200) <= 1 + TOLERANCE
