"""What is under way when a budget in money is used up: no further model call is sent, and nothing is lost."""

import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut.campaign.preparation.session import open_session
from agentmut.nouns.execution import Ending
from agentmut.nouns.result import Result
from agentmut.nouns.trace import Usage
from agentmut.project.project import Project
from agentmut.recording.purse import Purse
from agentmut.usecases.campaigns import carry_out_campaign, measure, stored_plan
from agentmut.usecases.runtime import open_store

pytestmark = pytest.mark.whole

CALL = 0.1
"""US dollars of one model call: ten tokens."""
PRICES = {"sim-large": {"input": 10_000.0, "output": 10_000.0}}
AGENT = """
import os
from pathlib import Path

import httpx


async def run(config, input):
    word = input.split()[-1]
    async with httpx.AsyncClient(trust_env=False) as client:
        while True:
            body = {"model": "sim-large", "messages": [{"role": "user", "content": config.prompt + input}]}
            try:
                await client.post(os.environ["MODEL"] + "/chat/completions", json=body, timeout=60)
            except RuntimeError:
                pass  # an agent that goes on, whatever it is told
            if f"say {word}" in config.prompt:
                return word
            if not Path(os.environ["LOOPS"]).exists():
                return "no idea"
"""
"""Without its rule it asks its model again and again."""
PROGRAM = """
import json, os, sys, urllib.request
from pathlib import Path

PROMPT = "- Always say alpha when asked for alpha."
asked = sys.stdin.read()
while True:
    messages = [{"role": "system", "content": PROMPT}, {"role": "user", "content": asked}]
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps({"model": "sim-large", "messages": messages}).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer k"},
    )
    try:
        said = json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
    except OSError:
        continue
    if said != "loop" or not Path(os.environ["LOOPS"]).exists():
        break
print("alpha")
"""


@pytest.fixture
def model(service: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setenv("MODEL", service.url)
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    monkeypatch.setenv("LOOPS", str(tmp_path / "loops"))
    (tmp_path / "loops").touch()
    return service


def looping(projects: Any, usd: float, isolate: str) -> Project:
    project: Project = projects.write(
        ("alpha",),
        agent=AGENT,
        idle=1,
        budget={"usd": usd, "prices": PRICES},
        statistics={"baseline": 20, "rounds": "auto"},
        execution={"concurrency": 2, "isolate": isolate, "timeout": 600, "retries": 0},
    )
    return project


def resumed(project: Project, usd: float) -> Result:
    project = project.limited(usd, None, None)
    session = open_session(project)
    with open_store(project) as store:
        return carry_out_campaign(session, stored_plan(session, store.runs()[0]), store)


def cut_trials(project: Project) -> list[tuple[str, float | None]]:
    with open_store(project) as store:
        found = [trial.execution for trial in store.listing.found()]
    return [(one.reason, one.trace.paid_usd) for one in found if one.ending is Ending.CUT]


@pytest.mark.parametrize("isolate", ["task", pytest.param("process", marks=pytest.mark.process)])
def test_a_trial_that_loops_is_cut_where_the_budget_ends(isolate: str, model: Any, projects: Any) -> None:
    project = looping(projects, 5.0, isolate)
    result = measure(project)
    assert result.status == "budget"
    assert len(model.requests) * CALL <= 5.0 + 2 * CALL  # one call for each of two trials under way
    assert result.cost.usd == pytest.approx(len(model.requests) * CALL)
    cut = cut_trials(project)
    assert 1 <= len(cut) <= 2
    assert {reason for reason, _ in cut} == {"cut: the budget in US dollars is used up"}
    usd = sum(usd or 0.0 for _, usd in cut)
    assert usd > 0.5
    assert any(
        note.startswith(f"cut by the budget: {len(cut)} trials under way cost") and f"${usd:.2f}" in note
        for note in result.notes
    )


def test_what_was_cut_runs_again_with_more_money(model: Any, projects: Any, tmp_path: Path) -> None:
    project = looping(projects, 5.0, "task")
    before = measure(project)
    asked = len(model.requests)
    (tmp_path / "loops").unlink()
    after = resumed(project, 100.0)
    assert after.status == "finished"
    assert after.run_id == before.run_id
    assert after.cost.usd == pytest.approx(len(model.requests) * CALL)  # the cut trials were paid as well
    assert len(model.requests) > asked
    assert all(row.status != "undecided" for row in after.mutants)
    with open_store(project) as store:
        trials = list(store.listing.found())
    again = {trial.key for trial in trials if trial.execution.ending is Ending.ANSWERED}
    assert {trial.key for trial in trials if trial.execution.ending is Ending.CUT} <= again


@pytest.mark.process
def test_a_program_that_loops_is_cut_at_the_proxy(model: Any, projects: Any) -> None:
    (projects.folder / "ask.py").write_text(PROGRAM)
    rule = "Always say alpha when asked for alpha."
    model.answer = lambda request: "alpha" if rule in request.system_text else "loop"
    agent = {"adapter": "command", "command": [sys.executable, "ask.py"], "config": {"prompt": f"- {rule}"}}
    looping(projects, 5.0, "auto")
    file = yaml.safe_load((projects.folder / "agentmut.yaml").read_text())
    file["agent"] = agent
    (projects.folder / "agentmut.yaml").write_text(yaml.safe_dump(file))
    project = projects.load()
    result = measure(project)
    assert result.status == "budget"
    assert len(model.requests) * CALL <= 5.0 + 2 * CALL
    assert cut_trials(project)


def test_a_purse_counts_what_all_processes_and_threads_have_paid() -> None:
    purse = Purse.shared(2)
    ours = purse.priced(lambda model, usage: usage.total / 1000)
    worker = purse.of_worker(1).priced(lambda model, usage: 0.25)
    assert not purse.is_empty  # no limit was set
    purse.limit(1.25)

    def paid() -> None:
        for _ in range(250):
            ours.pay("m", Usage(input_tokens=1))

    threads = [threading.Thread(target=paid) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not ours.is_empty and not worker.is_empty
    worker.pay("m", Usage())
    assert purse.is_empty and ours.is_empty and worker.is_empty
    purse.limit(1.5)
    assert not worker.is_empty


def test_a_call_without_a_price_takes_nothing_out_of_a_purse() -> None:
    purse = Purse.shared(0).priced(lambda model, usage: None)
    purse.limit(0.01)
    purse.pay("unknown", Usage(input_tokens=1_000_000))
    assert not purse.is_empty
