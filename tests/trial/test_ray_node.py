"""What a node of a Ray cluster is given, without Ray: the variables, the project, and its part of the rate limit."""

import asyncio
import pickle
from functools import partial
from pathlib import Path

import pytest
import yaml

from agentmut.campaign.preparation.engines import (
    Share,
    executor_on_node,
    of_an_actor,
    ray_executor,
    sent_variables,
)
from agentmut.campaign.preparation.session import open_session
from agentmut.project import ExecutionSettings, load_project
from agentmut.trial import TrialRequest
from agentmut.wire.carriers.throttle import Throttle

SHELL = {
    "DESK_TOKEN": "token-of-the-desk",
    "DB_PASSWORD": "password-of-the-store",
    "COMMENTED": "named-in-a-comment",
    "OTHER": "of-no-concern",
    "ANTHROPIC_API_KEY": "key-of-the-model",
}
AGENT = "import os\n\ndef run(config, input):\n    return os.environ['TOKEN'] + str('DB_PASSWORD' in os.environ)\n"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project whose agent needs one variable, and whose store needs another."""
    for name, value in SHELL.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "node_desk_agent.py").write_text(AGENT)
    (tmp_path / "prompt.md").write_text("- Always answer.\n")
    suite = [{"name": "ask", "input": "hello", "evaluators": [{"contains": "token"}]}]
    (tmp_path / "scenarios.yaml").write_text(yaml.safe_dump(suite))
    project = {
        "version": 1,
        "agent": {
            "adapter": "python",
            "run": "node_desk_agent:run",
            "config": {"prompt": "prompt.md"},
            "env": {"TOKEN": "${DESK_TOKEN}"},
        },
        "suite": {"scenarios": "scenarios.yaml"},
        "execution": {"engine": "ray", "concurrency": 40, "requests_per_minute": 600},
        "store": {"url": "postgresql://ci:${DB_PASSWORD}@db.example.org/trials"},
    }
    (tmp_path / "agentmut.yaml").write_text(f"# set ${{COMMENTED}} first\n{yaml.safe_dump(project)}")
    return tmp_path


def test_a_node_gets_the_agents_variables_and_none_of_the_stores(desk: Path) -> None:
    assert sent_variables(SHELL, desk / "agentmut.yaml") == {
        "DESK_TOKEN": "token-of-the-desk",
        "ANTHROPIC_API_KEY": "key-of-the-model",
    }


def test_a_variable_that_agent_and_store_share_goes_to_the_node(desk: Path) -> None:
    file = desk / "agentmut.yaml"
    file.write_text(file.read_text().replace("${DESK_TOKEN}", "${DB_PASSWORD}"))
    assert sent_variables(SHELL, file)["DB_PASSWORD"] == "password-of-the-store"


def test_nothing_that_goes_to_a_node_has_the_stores_password(desk: Path) -> None:
    executor = ray_executor(open_session(load_project(desk)), 1)
    sent = pickle.dumps((executor._make, executor._environment))
    assert b"token-of-the-desk" in sent
    assert b"password-of-the-store" not in sent


def test_an_agent_runs_on_a_node_that_has_no_password_of_the_store(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DB_PASSWORD")
    monkeypatch.chdir(desk)

    async def answered() -> object:
        executor = executor_on_node("agentmut.yaml", ("ask",), 1, Share(3, 16))
        async with executor.session():
            return (await executor.execute(TrialRequest(None, "ask", "1"))).trace.output

    assert asyncio.run(answered()) == "token-of-the-deskFalse"


@pytest.mark.parametrize(("concurrency", "each"), [(40, 16), (3, 16), (250, 7)])
def test_all_actors_together_keep_to_the_rate_limit(concurrency: int, each: int) -> None:
    """Requests at once through the throttles of all actors: in a minute no more pass than the project file allows."""
    execution = ExecutionSettings(concurrency=concurrency, trials_per_actor=each, requests_per_minute=600)
    slots = min(each, concurrency)
    actors = -(-concurrency // slots)
    passed = 0
    for _ in range(actors):
        rate = of_an_actor(execution, Share(actors, slots)).requests_per_minute
        assert rate is not None
        throttle = Throttle(rate, clock=lambda: 0.0)
        passed += sum(throttle.reserve() < 60 for _ in range(700))
    assert 600 <= passed <= 600 + actors  # each actor's first request passes at once


def test_each_service_has_a_limit_that_all_actors_keep_to_together() -> None:
    limits = {"api.openai.com": 600.0, "api.anthropic.com": 60.0}
    execution = ExecutionSettings(concurrency=40, trials_per_actor=16, requests_per_minute=limits)
    passed = dict.fromkeys((*limits, "localhost"), 0)
    for _ in range(3):
        rate = of_an_actor(execution, Share(3, 16)).requests_per_minute
        assert rate is not None
        throttle = Throttle(rate, clock=lambda: 0.0)
        for host in passed:
            passed[host] += sum(throttle.reserve(host) < 60 for _ in range(700))
    assert 600 <= passed["api.openai.com"] <= 600 + 3  # each actor's first request passes at once
    assert 60 <= passed["api.anthropic.com"] <= 60 + 3
    assert passed["localhost"] == 3 * 700  # a service without a limit is not held up


def test_an_actor_that_takes_the_place_of_a_lost_one_has_the_same_part() -> None:
    """A lost actor's part goes to its successor, so losses raise no rate: each adds its first request."""
    passed = 0
    for begun in (0.0, 20.0, 40.0):  # one place; its actor dies twice
        throttle = Throttle(30, clock=partial(float, begun))
        passed += sum(throttle.reserve() < 20 for _ in range(100))
    assert 30 <= passed <= 30 + 3
