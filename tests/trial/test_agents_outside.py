"""Programs and services whose model requests pass the proxy of a session, through the executor that runs trials."""

import asyncio
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import ClientSession, web

from agentmut.campaign.preparation.executors import local_executor
from agentmut.campaign.preparation.session import Session, open_session
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.mutant import Intent, Mutant, OperatorClass, Reach, prompt_edit
from agentmut.nouns.trace import Action
from agentmut.project.loading import load_project
from agentmut.trial.executor import TrialRequest
from agentmut.trial.witness.absence import absence
from agentmut.trial.witness.witness import Detector, Route
from tests.loopback import served

pytestmark = pytest.mark.process

PROMPT = "Be kind. Never shout."
PROGRAM = """
import json, os, sys, urllib.request

asked = sys.stdin.read()
messages = [{"role": "system", "content": "PROMPT"}, {"role": "user", "content": asked}]
request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    json.dumps({"model": "sim-large", "messages": messages}).encode(),
    {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
)
print("asking", file=sys.stderr)
print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])
""".replace("PROMPT", PROMPT)
ASKS_OTHERWISE = """
import os, urllib.error, urllib.request
try:
    urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/speak", b"{}")
except urllib.error.HTTPError as error:
    print(error)
"""
MUTANT = Mutant(
    id="m", operator="prompt.drop_instruction", version=1, operator_class=OperatorClass.PROMPT,
    intent=Intent.DEGRADE, reach=Reach.SENT, description="", edits=(prompt_edit(PROMPT, 8, 21, ""),),
)  # fmt: skip


def opened(folder: Path, **agent: Any) -> Session:
    config = {"prompt": PROMPT, "model": {"name": "sim-large"}}
    scenario = {"name": "s", "input": "hello", "evaluators": [{"contains": "x"}]}
    (folder / "scenarios.yaml").write_text(yaml.safe_dump([scenario]))
    file = {"version": 1, "agent": {"config": config, **agent}, "suite": {"scenarios": "scenarios.yaml"}}
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(file))
    return open_session(load_project(folder))


def ran(session: Session, *mutants: Mutant | None) -> list[Execution]:
    async def together() -> list[Execution]:
        executor = local_executor(session)
        async with executor.session():
            requests = [TrialRequest(mutant, "s", f"trial-{n}") for n, mutant in enumerate(mutants)]
            return await asyncio.gather(*map(executor.execute, requests))

    return asyncio.run(together())


@pytest.fixture
def model(service: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key-of-the-user")
    return service


def program(folder: Path) -> Session:
    (folder / "ask.py").write_text(PROGRAM)
    return opened(folder, adapter="command", command=[sys.executable, "ask.py"])


def systems(model: Any) -> list[str]:
    return sorted(request.system_text for request in model.requests)


def test_a_programs_prompt_is_changed_on_its_way(model: Any, tmp_path: Path) -> None:
    session = program(tmp_path)
    plain, mutated = ran(session, None, MUTANT)
    assert systems(model) == ["Be kind.", PROMPT]
    detector = Detector(MUTANT, session.suite.full)
    witness = detector.witness(mutated.footprint)
    assert witness is not None and witness.route is Route.SENT
    assert detector.witness(plain.footprint) is None
    assert [step.action for step in plain.trace.steps] == [Action.REASON, Action.RESPOND]
    assert (plain.trace.output, plain.trace.stderr) == ("Hello.", "asking\n")
    assert plain.trace.usage.total == 10


def test_a_request_in_no_known_dialect_is_told_apart_from_none(model: Any, tmp_path: Path) -> None:
    (tmp_path / "speak.py").write_text(ASKS_OTHERWISE)
    session = opened(tmp_path, adapter="command", command=[sys.executable, "speak.py"])
    (done,) = ran(session, None)
    said = absence(MUTANT, session.suite.full, [done.footprint], session.suite.on_wire)
    assert "a POST request to 127.0.0.1 was in no dialect that agentmut reads" in said


def test_the_users_key_reaches_the_service_and_no_trace(model: Any, tmp_path: Path) -> None:
    (done,) = ran(program(tmp_path), None)
    assert model.headers[0]["authorization"] == "Bearer planted-key-of-the-user"
    assert "planted-key" not in done.model_dump_json()


@pytest.mark.parametrize(("status", "ending"), [(503, Ending.INFRASTRUCTURE), (400, Ending.REFUSED)])
def test_a_program_that_ends_because_its_model_failed_is_no_evidence(
    model: Any, tmp_path: Path, status: int, ending: Ending
) -> None:
    model.replies(status)
    (done,) = ran(program(tmp_path), None)
    assert done.ending is ending
    assert done.trace.exit_code == 1 and "HTTPError" in done.trace.stderr


def test_a_program_that_fails_by_itself_after_its_model_answered_has_failed(
    model: Any, tmp_path: Path
) -> None:
    (tmp_path / "ask.py").write_text(PROGRAM + "sys.exit(7)\n")
    (done,) = ran(opened(tmp_path, adapter="command", command=[sys.executable, "ask.py"]), None)
    assert done.ending is Ending.RAISED and "exit code 7" in done.reason
    assert [step.action for step in done.trace.steps] == [Action.REASON]


def test_sixteen_programs_at_once_are_told_apart(model: Any, tmp_path: Path) -> None:
    done = ran(program(tmp_path), *([None, MUTANT] * 8))
    sent = [execution.footprint.requests[0].text.partition("\n")[0] for execution in done]
    assert [len(execution.footprint.requests) for execution in done] == [1] * 16
    assert all(("shout" in text) == (number % 2 == 0) for number, text in enumerate(sent)), sent


@pytest.fixture
def agent(loop_thread: Any) -> Iterator[Any]:
    """A service that asks its model where a header says, or else at a fixed port, passing the trial's name on."""
    places = {"model": ""}

    async def ask(http: web.Request) -> web.Response:
        base = http.headers.get("x-base") or places["model"]
        passed = (
            {"x-agentmut-trial": http.headers["x-agentmut-trial"]} if "x-base" not in http.headers else {}
        )
        messages = [
            {"role": "system", "content": PROMPT},
            {"role": "user", "content": (await http.json())["q"]},
        ]
        async with (
            ClientSession() as session,
            session.post(
                f"{base}/chat/completions", json={"model": "sim-large", "messages": messages}, headers=passed
            ) as reply,
        ):
            if reply.status >= 400:
                return web.Response(status=500, text="my model failed")
            return web.json_response({"said": (await reply.json())["choices"][0]["message"]["content"]})

    with served(loop_thread, {"/ask": ask}) as address:
        yield (
            places,
            {
                "adapter": "http",
                "url": f"{address}/ask",
                "body": {"q": "{input}"},
                "answer": "/said",
            },
        )


def check_both_delivered(session: Session, model: Any) -> None:
    plain, mutated = ran(session, None, MUTANT)
    assert (plain.ending, plain.trace.output) == (Ending.ANSWERED, "Hello.")
    assert systems(model) == ["Be kind.", PROMPT]
    witness = Detector(MUTANT, session.suite.full).witness(mutated.footprint)
    assert witness is not None and witness.route is Route.SENT


def test_a_service_that_is_told_where_its_model_is(model: Any, agent: Any, tmp_path: Path) -> None:
    settings = {**agent[1], "headers": {"X-Base": "{openai_base_url}"}}
    check_both_delivered(opened(tmp_path, **settings), model)


def test_a_service_that_asks_a_fixed_port_and_passes_the_trial_on(
    model: Any, agent: Any, tmp_path: Path
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    agent[0]["model"] = f"http://127.0.0.1:{port}/v1"
    check_both_delivered(opened(tmp_path, **agent[1], proxy_port=port), model)


def test_a_service_that_fails_because_its_model_did_is_no_evidence(
    model: Any, agent: Any, tmp_path: Path
) -> None:
    model.replies(503)
    settings = {**agent[1], "headers": {"X-Base": "{openai_base_url}"}}
    (done,) = ran(opened(tmp_path, **settings), None)
    assert done.ending is Ending.INFRASTRUCTURE and "answered 500: my model failed" in done.reason
