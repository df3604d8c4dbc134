"""200 planted secrets are said by agent, model and tools: nothing that agentmut writes or prints holds one."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from agentmut.nouns.messages import ModelReply, ModelRequest
from agentmut.nouns.trace import Usage
from tests.recording.planted import Planted, planted_secrets
from tests.wire.test_no_key_is_kept import started

SAYING = """
import itertools, json, pathlib
TEXTS = json.loads((pathlib.Path(__file__).parent / "planted.json").read_text())
TURN = itertools.count()

def some(count=9):
    place = next(TURN) * count
    return "\\n".join(TEXTS[(place + i) % len(TEXTS)] for i in range(count))
"""
MODULE = f"""{SAYING}
import os
import agentmut, httpx

@agentmut.tool
def look_up(query, password):
    return {{"found": some(), "session_token": TEXTS[0]}}

def run(config, input):
    said = [{{"role": "system", "content": config.prompt}}, {{"role": "user", "content": input + "\\n" + some()}}]
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    with httpx.Client(trust_env=False) as client:
        reply = client.post(url, json={{"model": "sim-large", "messages": said}}).json()
    look_up(some(), password="correct horse")
    if "shout" not in config.prompt:
        raise RuntimeError("cannot log in with " + some())
    return "kind " + some() + "\\n" + reply["choices"][0]["message"]["content"]
"""
BROKEN = f'{SAYING}\nraise RuntimeError("no login with " + "\\n".join(TEXTS))\n'
PROGRAM = f"""{SAYING}
import os, sys
TURN = itertools.count(os.getpid())
print(some(), file=sys.stderr)
print("kind", sys.stdin.read(), some())
"""
PROJECT = """
version: 1
agent:
  %s
  config: {prompt: "- Be kind.\\n- Never shout.", model: {name: sim-large}}
suite: {scenarios: scenarios.yaml, threshold: 0.5}
mutation: {operators: [prompt.drop_instruction]}
statistics: {baseline: 12, n_max: 10, seed: 1, rounds: one}
budget: {trials: 40}
execution: {record: true, concurrency: 4, retries: 0, timeout: 10}
secrets: {names: [badge], patterns: ['EMP-\\d{6}']}
"""
AGENTS = {
    "in_process": "adapter: python\n  run: saying_module:run",
    "command": f"adapter: command\n  command: [{sys.executable}, -S, -E, saying_program.py]",
}
DECLARED = ('{"badge": "violet-otter"}', "ask EMP-204811 about it", "badge=violet-otter")
SCENARIOS = """
- {name: s, input: hello, evaluators: [{contains: kind}, {not_contains: 'nothing of the kind'}]}
- {name: t, input: good day, evaluators: [{not_contains: 'kind '}]}
"""
VERBS = """
import contextlib, io, json, sys
from pathlib import Path
from agentmut.cli import main

def called(*arguments):
    out = io.StringIO()
    try:
        main(arguments)
    except SystemExit as ended:
        assert ended.code in (0, 1, 2, 3, 4), (arguments, ended.code)

called("run", "--yes", "--json")
called("run", "--yes")
taken = [json.loads(path.read_text()) for path in Path(".agentmut").rglob("cassettes/*")]
for one in taken[:1]:
    called("replay", one["trial"])
for format in ("terminal", "json", "markdown", "junit", "sarif", "stryker", "html"):
    called("report", "--format", format, "--output", "report." + format)
called("report", "--json")
for row in json.loads(max(Path(".agentmut").rglob("result.json")).read_text())["mutants"][:2]:
    called("show", row["id"])
called("test", "--yes", "--trials", "20")
called("trials")
called("trials", "--json")
called("trials", "--trial", "1")
called("coverage", "--items", "all")
called("rescore")
called("suggest", "--json")
called("suggest")
called("relations", "--stored")
called("baseline", "save", "--trials", "20")
called("trend", "--json")
called("gate", "--json")
called("doctor", "--yes", "--json", "--save-request", "request.json")
project = Path("agentmut.yaml").read_text()
Path("agentmut.yaml").write_text(project.replace("saying_module:run", "broken_module:run"))
called("run", "--yes", "--fresh")
"""
SAID = [
    *planted_secrets(),
    *(Planted("declared", text, "violet-otter" if "violet" in text else "EMP-204811") for text in DECLARED),
]


@pytest.mark.process
@pytest.mark.parametrize("kind", AGENTS)
def test_no_planted_secret_is_written_or_printed(
    kind: str, tmp_path: Path, warm: None, polyglot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = iter(range(10**6))

    def reply(request: ModelRequest) -> ModelReply:
        place = next(turns) * 9
        text = "\n".join(SAID[(place + i) % len(SAID)].text for i in range(9))
        return ModelReply(model=request.model, text=text, usage=Usage(input_tokens=7, output_tokens=3))

    polyglot.reply = reply
    monkeypatch.setenv("OPENAI_BASE_URL", f"{polyglot.origin}/v1")
    own = write_project(tmp_path, AGENTS[kind])
    process = started(tmp_path, VERBS)
    streams = process.communicate(timeout=600)
    assert process.returncode == 0, streams
    files = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    written = {
        path: content for path, content in files.items() if path.name not in own and path.suffix != ".pyc"
    }
    assert len({path for path in written if path.stem == "report"}) == 7
    assert any("cassettes" in path.parts for path in written) == (kind == "in_process")
    assert {str(path): found(content) for path, content in written.items() if found(content)} == {}
    assert [found(stream) for stream in streams] == [[], []]
    assert b"".join(written.values()).count(b"[redacted]") > 200
    if kind == "in_process":
        assert b"no login with" in streams[1]


def write_project(folder: Path, agent: str) -> set[str]:
    """Write the project, and return the names of its own files."""
    files = {
        "agentmut.yaml": PROJECT % agent,
        "planted.json": json.dumps([one.text for one in SAID]),
        "saying_module.py": MODULE,
        "saying_program.py": PROGRAM,
        "broken_module.py": BROKEN,
        "scenarios.yaml": SCENARIOS,
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    return set(files)


def found(content: bytes) -> list[str]:
    """Return the kinds of the secrets of which a beginning, a middle or an end is in the content."""
    return sorted(
        {f"{one.kind}: {one.secret}" for one in SAID for piece in pieces(one.secret) if piece in content}
    )


def pieces(secret: str) -> list[bytes]:
    """Return ten characters from the beginning, the middle and the end of a secret; a short one as a whole."""
    begin = 8 if len(secret) > 20 else 0  # beyond what a service begins its tokens with
    middle = max(0, len(secret) // 2 - 5)
    return [
        part.encode() for part in {secret[-10:], secret[middle : middle + 10], secret[begin : begin + 10]}
    ]


def test_the_search_finds_what_is_planted() -> None:
    assert all(found(f"x{one.text}y".encode()) for one in SAID)
    assert len({one.secret for one in SAID}) >= 200
