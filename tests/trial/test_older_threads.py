"""An agent that sends its model requests in a thread which is older than the trial."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from agentmut.campaign import make_executor
from agentmut.doctor import before_running, examine
from agentmut.nouns.execution import Ending
from agentmut.recording import Redactor
from agentmut.trial.executor import TrialRequest
from agentmut.trial.witness.absence import absence
from agentmut.trial.witness.witness import Detector
from tests.trial.test_agents_outside import MUTANT, PROMPT, opened, ran, systems

AGENT = """
import json, os, queue, threading
import httpx

JOBS = queue.Queue()

def work():
    while True:
        asked, told = JOBS.get()
        messages = [{"role": "system", "content": "PROMPT"}, {"role": "user", "content": asked}]
        reply = httpx.post(
            os.environ["OPENAI_BASE_URL"] + "/chat/completions",
            json={"model": "sim-large", "messages": messages},
        )
        told.put(reply.json()["choices"][0]["message"]["content"])

threading.Thread(target=work, daemon=True, name="old-worker").start()

def answer(input):
    told = queue.Queue()
    JOBS.put((input, told))
    return told.get()
""".replace("PROMPT", PROMPT)


pytestmark = pytest.mark.process


@pytest.fixture
def agent(service: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    (tmp_path / "old_worker_agent.py").write_text(AGENT)
    monkeypatch.delitem(sys.modules, "old_worker_agent", raising=False)
    return opened(tmp_path, adapter="python", run="old_worker_agent:answer", route="wire")


def test_what_a_thread_older_than_the_trial_sends_is_named_and_never_taken_for_delivered(
    agent: Any, service: Any
) -> None:
    plain, mutated = ran(agent, None, MUTANT)
    assert plain.ending is mutated.ending is Ending.ANSWERED
    assert systems(service) == [PROMPT, PROMPT]  # both passed as they were
    assert plain.footprint.strangers == ("old-worker",) and not plain.footprint.requests
    assert Detector(MUTANT, agent.suite.full).witness(mutated.footprint) is None
    said = absence(MUTANT, agent.suite.full, [mutated.footprint], None)
    assert "old-worker" in said and "`execution.isolate: process`" in said


def test_doctor_says_what_it_could_not_see_and_the_line_that_helps(agent: Any) -> None:
    found = examine(agent, before_running(agent, {}), Redactor(frozenset())).diagnosis
    assert any("old-worker" in line and "`execution.isolate: process`" in line for line in found.advice)
    assert not any(found.routes.values())


def test_in_a_process_of_its_own_the_thread_is_the_trials(agent: Any, service: Any) -> None:
    execution = agent.project.execution.model_copy(update={"isolate": "process"})
    alone = agent._replace(project=agent.project.model_copy(update={"execution": execution}))

    async def one() -> Any:
        executor = make_executor(alone)
        async with executor.session():
            return await executor.execute(TrialRequest(MUTANT, "s", "trial-1"))

    done = asyncio.run(one())
    assert systems(service) == ["Be kind."]
    assert Detector(MUTANT, agent.suite.full).witness(done.footprint) is not None
