"""Agents behind an HTTP endpoint: what is sent, what is taken for the answer, and whose failure is whose."""

import asyncio
import json
import re
import socket
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from aiohttp import web
from pydantic import SecretStr

from agentmut._base.errors import UsageError
from agentmut.adapters.http import HttpAdapter
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.project.loading import load_project
from agentmut.recording.current import running
from agentmut.recording.known_secrets import header_secrets
from agentmut.recording.redaction import Redactor
from agentmut.recording.trial import Trial
from agentmut.seams.protocols.adapter import AgentSpec, RunsOutside
from agentmut.trial.single_run import Case, attempt
from agentmut.usecases.runtime import redactor
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.codecs import all_codecs
from agentmut.wire.rewriting.rewriter import ConfigRewriter
from tests.loopback import ANY_PATH, served

CONFIG = AgentConfig(prompt="Be kind.", model=ModelConfig(name="sim-large"), orchestration={"max_steps": 6})
KEY = "hunter2-hunter2-hunter2"


@dataclass
class Agent:
    """A service that answers as a test says, and keeps what it was sent."""

    url: str = ""
    status: int = 200
    body: bytes = b'{"reply": "fine"}'
    kind: str = "application/json"
    location: str = ""
    seen: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)

    async def handle(self, http: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in http.headers.items()}
        self.seen.append((http.method, http.path_qs, headers, await http.read()))
        if http.path == "/drop" and http.transport:
            http.transport.close()
        if http.path == "/moved":
            return web.Response(status=self.status, headers={"Location": self.location})
        return web.Response(status=self.status, body=self.body, content_type=self.kind, charset="utf-8")

    @property
    def sent(self) -> Any:
        return json.loads(self.seen[-1][3])


@pytest.fixture
def agent(loop_thread: Any) -> Iterator[Agent]:
    found = Agent()

    with served(loop_thread, {ANY_PATH: found.handle}, client_max_size=2**26) as address:
        found.url = address
        yield found


def made(url: str, config: AgentConfig = CONFIG, **spec: Any) -> HttpAdapter:
    return HttpAdapter.create(AgentSpec(adapter="http", url=url, **spec), config)


def ran(adapter: HttpAdapter, *turns: Any, timeout: float = 600.0) -> Execution:
    judged = (EvaluatorSpec(name="contains", argument="x"),)
    case = Case(Scenario(name="s", turns=turns or ("hello",), evaluators=judged), {})
    return asyncio.run(attempt(adapter, case, "trial-1", 0, timeout))


def answer(adapter: HttpAdapter, *turns: Any) -> Any:
    done = ran(adapter, *turns)
    assert done.ending is Ending.ANSWERED, done.reason
    return done.trace.output


def test_by_default_the_input_is_posted_and_the_json_is_the_answer(agent: Agent) -> None:
    assert answer(made(f"{agent.url}/ask")) == {"reply": "fine"}
    method, path, headers, _ = agent.seen[-1]
    assert (method, path, agent.sent) == ("POST", "/ask", {"input": "hello"})
    assert headers["content-type"] == "application/json"
    assert headers["x-agentmut-trial"] == "trial-1"


def test_a_body_that_is_no_json_is_the_answer_as_it_is(agent: Agent) -> None:
    agent.body, agent.kind = b"plain, \xc3\xbc", "text/plain"
    assert answer(made(agent.url)) == "plain, ü"


def test_an_answer_is_taken_from_json_whatever_its_type_is_called(agent: Agent) -> None:
    agent.kind = "text/plain"
    assert answer(made(agent.url, answer="/reply")) == "fine"


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/api/chat", "/v1/messages"])
def test_an_agent_that_speaks_a_models_dialect_itself_is_no_model(agent: Agent, path: str) -> None:
    body = {"model": "sim-large", "messages": [{"role": "user", "content": "{input}"}]}
    adapter = made(f"{agent.url}{path}", body=body)
    louder = CONFIG.model_copy(update={"model": ModelConfig(name="sim-small", temperature=1.0)})
    trial = Trial("one", rewriter=ConfigRewriter(CONFIG, louder))
    with Tap(all_codecs()).installed(), running(trial):
        asyncio.run(adapter.run(("hello",), trial))
    assert agent.sent == {"model": "sim-large", "messages": [{"role": "user", "content": "hello"}]}
    assert trial.recorder.exchanges == []


def test_several_turns_are_sent_as_a_list(agent: Agent) -> None:
    answer(made(agent.url), "one", "two")
    assert agent.sent == {"input": ["one", "two"]}
    answer(made(agent.url, body={"turns": "{turns}", "n": 1, "say": ["Asked: {turns}"]}), "one")
    assert agent.sent == {"turns": ["one"], "n": 1, "say": ['Asked: ["one"]']}


def test_a_template_takes_parts_of_the_config_and_braces(agent: Agent) -> None:
    body = {"steps": "{orchestration.max_steps}", "who": "{model.name}!", "raw": "{{}}", "id": "{trial}"}
    answer(made(agent.url, body=body))
    assert agent.sent == {"steps": 6, "who": "sim-large!", "raw": "{}", "id": "trial-1"}


def test_an_input_is_data_in_body_and_address(agent: Agent) -> None:
    hostile = '"}, {"x": "\n&a=1#/../?é%'
    answer(made(agent.url), hostile)
    assert agent.sent == {"input": hostile}
    answer(made(agent.url + "/ask?k=1&q={input}", method="GET"), hostile)
    assert agent.seen[-1][0] == "GET" and agent.seen[-1][3] == b""
    path, _, query = agent.seen[-1][1].partition("?")
    assert path == "/ask" and parse_qs(query) == {"k": ["1"], "q": [hostile]}


def test_headers_take_the_trials_endpoints(agent: Agent) -> None:
    headers = {"X-Base": SecretStr("{openai_base_url}"), "X-Trial": SecretStr("t={trial}")}
    trial = Trial("trial-9", endpoints={"OPENAI_BASE_URL": "http://127.0.0.1:2/t/trial-9/v1"})
    asyncio.run(made(agent.url, headers=headers).run(("hi",), trial))
    seen = agent.seen[-1][2]
    assert (seen["x-base"], seen["x-trial"]) == ("http://127.0.0.1:2/t/trial-9/v1", "t=trial-9")


def test_an_endpoint_that_nobody_has_set_is_said(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    done = ran(made(agent.url, headers={"X-Base": SecretStr("{anthropic_base_url}")}))
    assert done.ending is Ending.UNBUILDABLE and "{anthropic_base_url} is not known" in done.reason
    assert agent.seen == []


@pytest.mark.parametrize(
    ("status", "ending"),
    [
        (500, Ending.RAISED),
        (400, Ending.RAISED),
        (422, Ending.RAISED),
        (503, Ending.INFRASTRUCTURE),
        (429, Ending.INFRASTRUCTURE),
        (401, Ending.UNBUILDABLE),
        (404, Ending.UNBUILDABLE),
    ],
)
def test_whose_trouble_a_status_is(agent: Agent, status: int, ending: Ending) -> None:
    agent.status, agent.body = status, b"it  said\nso"
    done = ran(made(f"{agent.url}/ask?key={KEY}"))
    assert done.ending is ending and f"/ask answered {status}: it said so" in done.reason
    assert KEY not in done.model_dump_json()


def test_a_service_that_is_not_there_is_no_evidence() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    done = ran(made(f"http://127.0.0.1:{port}/ask"))
    assert done.ending is Ending.INFRASTRUCTURE
    assert f"nothing answers at http://127.0.0.1:{port}/ask; start the service" in done.reason


def test_a_service_that_breaks_off_has_failed(agent: Agent) -> None:
    done = ran(made(f"{agent.url}/drop"))
    assert done.ending is Ending.RAISED and "broke off the connection" in done.reason


def test_a_service_that_hangs_runs_into_the_timeout(agent: Agent) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        done = ran(made(f"http://127.0.0.1:{silent.getsockname()[1]}/ask"), timeout=0.2)
    assert done.ending is Ending.TIMEOUT and not done.abandoned


def test_a_reply_that_is_too_long_is_the_services_failure(agent: Agent) -> None:
    agent.body = b"x" * (10 * 2**20 + 1)
    done = ran(made(agent.url))
    assert done.ending is Ending.RAISED and "longer than 10 MB" in done.reason


def test_json_that_is_none_is_the_services_failure(agent: Agent) -> None:
    agent.body = b"{oops"
    done = ran(made(agent.url))
    assert done.ending is Ending.RAISED and "the body is not JSON" in done.reason
    agent.body = b'{"replies": []}'
    done = ran(made(agent.url, answer="/reply"))
    assert "the reply has no /reply: the whole is an object with 'replies'" in done.reason


def test_redirects_are_followed_within_the_service_only(agent: Agent) -> None:
    agent.status, agent.location = 307, "/elsewhere?x=1"
    done = ran(made(f"{agent.url}/moved", headers={"Authorization": SecretStr(f"Bearer {KEY}")}))
    assert [path for _, path, _, _ in agent.seen] == ["/moved", "/elsewhere?x=1"]
    assert agent.sent == {"input": "hello"} and done.ending is Ending.ANSWERED
    agent.seen.clear()
    agent.location = agent.url.replace("127.0.0.1", "localhost") + "/elsewhere"
    done = ran(made(f"{agent.url}/moved"))
    assert done.ending is Ending.UNBUILDABLE and "another service" in done.reason
    assert len(agent.seen) == 1


def test_endless_redirects_end(agent: Agent) -> None:
    agent.status, agent.location = 302, "/moved"
    assert "redirects more than 5 times" in ran(made(f"{agent.url}/moved")).reason


def test_what_a_service_repeats_of_the_headers_is_masked(agent: Agent) -> None:
    agent.status, agent.body = 500, f"no access with Bearer {KEY} or {KEY}".encode()
    done = ran(made(agent.url, headers={"Authorization": SecretStr(f"Bearer {KEY}")}))
    assert agent.seen[-1][2]["authorization"] == f"Bearer {KEY}"
    assert KEY not in done.model_dump_json() and "[redacted]" in done.reason


def test_secrets_of_headers_are_no_part_of_an_adapters_text(agent: Agent) -> None:
    adapter = made(agent.url, headers={"Authorization": SecretStr(f"Bearer {KEY}")})
    assert KEY not in repr(adapter)


def test_the_projects_redactor_knows_the_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESK_LOGIN", KEY)
    (tmp_path / "scenarios.yaml").write_text("- name: s\n  input: hi\n  evaluators:\n    - contains: x\n")
    (tmp_path / "agentmut.yaml").write_text(
        "version: 1\nagent:\n  adapter: http\n  url: http://127.0.0.1:8000/ask\n"
        "  headers: {X-Login: 'Desk ${DESK_LOGIN}', Accept: application/json}\n"
        "suite: {scenarios: scenarios.yaml}\n"
    )
    project = load_project(tmp_path)
    assert redactor(project).text(f"{KEY}, application/json") == "[redacted], application/json"


def test_everyday_words_of_the_agents_variables_are_no_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_LOGIN", KEY)
    (tmp_path / "scenarios.yaml").write_text("- name: s\n  input: hi\n  evaluators:\n    - contains: x\n")
    (tmp_path / "agentmut.yaml").write_text(
        "version: 1\nagent:\n  adapter: command\n  command: [cat]\n"
        "  env: {DESK_CITY: San Francisco, LOGIN: 'desk ${DESK_LOGIN}', DESK_TOKEN: plain-but-secret}\n"
        "suite: {scenarios: scenarios.yaml}\n"
    )
    mask = redactor(load_project(tmp_path)).text
    assert mask("San Francisco") == "San Francisco"
    assert mask(f"desk {KEY}, plain-but-secret") == "[redacted], [redacted]"


def test_what_a_service_repeats_of_the_address_is_masked(agent: Agent) -> None:
    agent.status = 500
    agent.body = b"?key=planted-url-key-123 " + b64encode(b"user:planted-word") + b" planted-word"
    url = agent.url.replace("//", "//user:planted-word@") + "/ask?key=planted-url-key-123"
    done = ran(made(url))
    assert "[redacted]" in done.reason
    assert not re.search("planted|cGxhbnR", done.model_dump_json())


def test_a_key_is_masked_before_a_services_words_are_cut(agent: Agent) -> None:
    agent.status, agent.body = 500, b"x" * 290 + KEY.encode()
    done = ran(made(agent.url, headers={"X-Key": SecretStr(KEY)}))
    assert "hunter2" not in done.reason


def test_a_redirect_to_what_is_no_address_is_the_services_failure(agent: Agent) -> None:
    agent.status, agent.location = 302, "http://[::1"
    done = ran(made(f"{agent.url}/moved"))
    assert done.ending is Ending.RAISED
    assert "/moved redirects (302) to what is no address" in done.reason


def test_only_headers_that_may_be_secret_are_masked() -> None:
    headers = {"Content-Type": SecretStr("application/json"), "X-Key": SecretStr(f"Bearer {KEY}")}
    assert Redactor(header_secrets(headers)).text(f"application/json {KEY}") == "application/json [redacted]"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"url": None}, "agent.url: adapter http needs the address"),
        ({"url": "ftp://host/x"}, "agent.url: adapter http needs the address"),
        ({"url": "http://h/{inputs}"}, "agent.url: unknown placeholder {inputs}. Did you mean 'input'?"),
        ({"body": {"a": ["{turn}"]}}, "agent.body: unknown placeholder {turn}. Did you mean 'turns'?"),
        ({"headers": {"X": SecretStr("{openai_base}")}}, "Did you mean 'openai_base_url'?"),
        ({"headers": {"X": SecretStr("a\nb")}}, "agent.headers.X: a header is one line"),
        ({"method": "GET"}, "put {input} into agent.url"),
        ({"method": "GET", "body": {}}, "a GET request has no body"),
        ({"answer": "reply"}, "agent.answer: 'reply' is no JSON pointer"),
    ],
)
def test_a_wrong_section_is_refused_at_once(spec: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        HttpAdapter.create(AgentSpec(**{"adapter": "http", "url": "http://127.0.0.1:1/ask", **spec}), CONFIG)
    assert said in str(refused.value)


def test_what_the_body_names_is_carried_and_noted_as_read(agent: Agent) -> None:
    adapter = made(agent.url, body={"q": "{input}", "steps": "{orchestration.max_steps}"})
    assert isinstance(adapter, RunsOutside) and adapter.carries == {"orchestration.max_steps"}
    changed = CONFIG.model_copy(update={"orchestration": {"max_steps": 1}})
    done = ran(adapter.with_config(changed))
    assert agent.sent["steps"] == 1 and done.footprint.reads == ("orchestration.max_steps",)
    edit = Edit(pointer="/orchestration/max_steps", before=6, after=1)
    steps = Mutant(
        id="m", operator="o", version=1, operator_class=OperatorClass.ORCHESTRATION, intent=Intent.DEGRADE,
        reach=Reach.SENT, description="", edits=(edit,),
    )  # fmt: skip
    assert adapter.cannot_express(steps) == ""
    assert "name {orchestration.max_steps} in agent.body" in made(agent.url).cannot_express(steps)


def test_fifty_at_once_each_get_their_own_answer() -> None:
    async def echo(http: web.Request) -> web.StreamResponse:
        await asyncio.sleep(0.05)
        return web.json_response(json.loads(await http.read())["input"])

    async def together() -> list[str]:
        app = web.Application()
        app.router.add_post("/ask", echo)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        adapter = made(f"http://127.0.0.1:{runner.addresses[0][1]}/ask")
        trials = (adapter.run((f"input {n}",), Trial(f"t{n}")) for n in range(50))
        found = [trace.text for trace in await asyncio.gather(*trials)]
        await runner.cleanup()
        return found

    assert asyncio.run(together()) == [f"input {n}" for n in range(50)]
