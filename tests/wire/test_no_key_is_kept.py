"""Whole campaigns with planted keys: nothing that agentmut writes or prints holds one, in any spelling."""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from agentmut.nouns.messages import ModelReply, ModelRequest
from agentmut.nouns.trace import Usage

IN_ENVIRONMENT = {
    "OPENAI_API_KEY": "planted+openai/key=0123456789",
    "DESK_LOGIN": 'planted "login" of Müller',
    "HTTPS_PROXY": "http://me:planted-proxy-password@127.0.0.1:9",
}
DECLARED = "planted-declared-token"
IN_HEADER = "planted-header-key-0123456789"
IN_QUERY = ("planted-query-key", "planted-signature")
FORMS = ("sk-planted0123456789abcdef", "AIzaplanted0123456789abcdefghijklmnop", "ghp_planted0123456789abcdef")
"""What looks like a provider's key, and is said by the model."""
PLANTED = (
    *(value for name, value in IN_ENVIRONMENT.items() if name != "HTTPS_PROXY"),
    "planted-proxy-password", DECLARED, IN_HEADER, *IN_QUERY, *FORMS,
)  # fmt: skip

ASKING = """
import http.client, json, os, sys
from urllib.parse import quote, urlsplit

def post(base, path, body, **headers):
    url = urlsplit(os.environ[base])
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=600)
    connection.request("POST", url.path + path, json.dumps(body), {"Content-Type": "application/json", **headers})
    return connection.getresponse().read().decode()

def asked(text):
    key, login = os.environ["OPENAI_API_KEY"], os.environ["LOGIN"]
    said = [{"role": "system", "content": "- Be kind.\\n- Never shout."}, {"role": "user", "content": text + login}]
    path = "/chat/completions?sig=planted-signature&of=" + quote(key, safe="")
    basic = __import__("base64").b64encode(f"me:{key}".encode()).decode()
    reply = post("OPENAI_BASE_URL", path, {"model": "sim-large", "messages": said}, Authorization="Bearer " + key)
    parts = {"contents": [{"role": "user", "parts": [{"text": f"{basic} {quote(key)} {text}"}]}]}
    other = post("GOOGLE_GEMINI_BASE_URL", "/v1beta/models/g:generateContent?key=planted-query-key", parts,
                 **{"x-goog-api-key": "planted-header-key-0123456789"})
    print("x" * 700 + key + "y" * 590, login, os.environ["DESK_TOKEN"], file=sys.stderr)
    return json.loads(reply)["choices"][0]["message"]["content"] + f" kind {key} {login} {basic} {other}"
"""
PROGRAM = ASKING + "\nprint(asked(sys.stdin.read()))\n"
MODULE = """
import base64, os
from urllib.parse import quote
import httpx

def run(config, input):
    key, login = os.environ["OPENAI_API_KEY"], os.environ["LOGIN"]
    said = [{"role": "system", "content": config.prompt}, {"role": "user", "content": input + login}]
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions?key=planted-query-key&sig=planted-signature"
    body = {"model": "sim-large", "messages": said, "user": base64.b64encode(f"me:{key}".encode()).decode()}
    headers = {"Authorization": "Bearer " + key, "x-api-key": "planted-header-key-0123456789"}
    with httpx.Client(trust_env=False) as client:
        reply = client.post(url, json=body, headers=headers).json()["choices"][0]["message"]["content"]
    if "shout" not in config.prompt:
        raise RuntimeError(f"{url} {quote(key)} {login} {os.environ['DESK_TOKEN']}")
    return f"kind {key} {reply}"
"""
PROJECT = """
version: 1
agent:
  %s
  env: {DESK_TOKEN: planted-declared-token, LOGIN: "${DESK_LOGIN}"}
  config: {prompt: "- Be kind.\\n- Never shout.", model: {name: sim-large}}
suite: {scenarios: scenarios.yaml, threshold: 0.5}
mutation: {operators: [prompt.drop_instruction]}
statistics: {baseline: 5, n_max: 10, seed: 1}
budget: {trials: 14}
execution: {record: true, concurrency: 4, retries: 0, timeout: 5}
"""
AGENTS = {
    "command": f"adapter: command\n  command: [{sys.executable}, -S, -E, agent_with_keys.py]",
    "in_process": "adapter: python\n  run: module_with_keys:run",
}


@pytest.fixture
def service(polyglot: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    def reply(request: ModelRequest) -> ModelReply:
        text = f"Keys: {' '.join(FORMS)}"
        return ModelReply(model=request.model, text=text, usage=Usage(input_tokens=7, output_tokens=3))

    polyglot.reply = reply
    monkeypatch.setenv("OPENAI_BASE_URL", f"{polyglot.origin}/v1")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", polyglot.origin)
    for name, value in IN_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    return polyglot


VERBS = """
import json, sys
from pathlib import Path
from agentmut.cli import main
from agentmut.store.store import Store

close = Store.close
def closing(store):
    for path in Path(".agentmut").glob("store.db*"):  # with its log, which is gone once the store is closed
        Path(f"seen-{len(list(Path().glob('seen-*')))}-{path.name}").write_bytes(path.read_bytes())
    close(store)
Store.close = closing

def called(*arguments):
    try:
        main(arguments)
    except SystemExit as ended:
        assert ended.code in (0, 1, 3, 4), (arguments, ended.code)

called("run", "--yes")
taken = [json.loads(path.read_text()) for path in Path(".agentmut").rglob("cassettes/*")]
mutants = [one["mutant"] for one in taken if one.get("mutant")]
called("show", next(one["id"] for one in mutants if one["operator"] == "prompt.drop_instruction"))
called("report")
called("replay", "--json")
for trial in {one.get("mutant") is None: one["trial"] for one in taken}.values():
    called("replay", trial)
called("doctor", "--yes", "--json", "--save-request", "request.json")
"""


@pytest.mark.process
def test_no_key_is_kept_or_printed(tmp_path: Path, warm: None, service: Any) -> None:
    folders = [write_project(tmp_path / name, agent) for name, agent in AGENTS.items()]
    running = [started(folder) for folder in folders]  # both at once
    said = [process.communicate(timeout=600) for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    for folder, streams in zip(folders, said, strict=True):
        files = {path.relative_to(folder): path.read_bytes() for path in written(folder)}
        assert sum("cassettes" in path.parts for path in files) >= 10
        assert any(path.name.endswith("store.db-wal") for path in files)
        assert files[Path("request.json")]
        assert {path: found(content) for path, content in files.items() if found(content)} == {}
        assert [found(stream) for stream in streams] == [[], []]
        assert b"[redacted]" in b"".join(files.values())


def started(folder: Path, program: str = VERBS) -> subprocess.Popen[bytes]:
    root = str(Path(__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-S", f"{root}/tests/testdata/warm_cli.py", "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": root},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def write_project(folder: Path, agent: str) -> Path:
    folder.mkdir()
    (folder / "agentmut.yaml").write_text(PROJECT % agent)
    (folder / "agent_with_keys.py").write_text(PROGRAM)
    (folder / "module_with_keys.py").write_text(MODULE)
    judged = "[{contains: kind}, {not_contains: 'nothing of the kind'}]"
    (folder / "scenarios.yaml").write_text(f"- {{name: s, input: hello, evaluators: {judged}}}\n")
    return folder


def written(folder: Path) -> Iterator[Path]:
    own = {"agent_with_keys.py", "module_with_keys.py", "agentmut.yaml"}
    return (p for p in folder.rglob("*") if p.is_file() and p.name not in own and p.suffix != ".pyc")


def found(content: bytes) -> list[str]:
    return sorted({form for key in PLANTED for form in spellings(key) if form.encode() in content})


def spellings(key: str) -> set[str]:
    once = {json.dumps(key)[1:-1], json.dumps(key, ensure_ascii=False)[1:-1]}
    packed = {base64.b64encode(bytes(n) + key.encode()).decode()[(0, 2, 3)[n] :][:16] for n in range(3)}
    cut = key[:14]  # what is left of a key that was cut
    return {key, cut, *once, *(json.dumps(s)[1:-1] for s in once), quote(key, safe=""), quote(key)} | packed


def test_the_search_finds_what_is_planted() -> None:
    key = IN_ENVIRONMENT["OPENAI_API_KEY"]
    said = (key, json.dumps(json.dumps(key)), quote(key), base64.b64encode(f"me:{key}".encode()).decode())
    assert all(found(text.encode()) for text in said)
    assert os.environ.get("OPENAI_API_KEY") != key
