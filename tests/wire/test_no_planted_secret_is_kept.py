"""200 planted secrets are said by agent, model and tools: nothing that agentmut writes or prints holds one."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.recording.planted import Planted, planted_secrets
from tests.wire.said_secrets import (
    CALLED,
    agents,
    model_that_says,
    program_that_says,
    project_file,
    saying,
    write_files,
    written_files,
)
from tests.wire.test_no_key_is_kept import started

SAYING = saying("planted.json", 9, "\n")
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
PROGRAM = program_that_says(SAYING)
SECRETS = "secrets: {names: [badge], patterns: ['EMP-\\d{6}']}\n"
AGENTS = agents("saying")
DECLARED = ('{"badge": "violet-otter"}', "ask EMP-204811 about it", "badge=violet-otter")
SCENARIOS = """
- {name: s, input: hello, evaluators: [{contains: kind}, {not_contains: 'nothing of the kind'}]}
- {name: t, input: good day, evaluators: [{not_contains: 'kind '}]}
"""
VERBS = (
    CALLED
    + """
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
Path("agentmut.yaml").write_text(project.replace("saying:run", "broken_module:run"))
called("run", "--yes", "--fresh")
"""
)
SAID = [
    *planted_secrets(),
    *(Planted("declared", text, "violet-otter" if "violet" in text else "EMP-204811") for text in DECLARED),
]


@pytest.mark.process
@pytest.mark.parametrize("kind", AGENTS)
def test_no_planted_secret_is_written_or_printed(
    kind: str, tmp_path: Path, warm: None, polyglot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    polyglot.reply = model_that_says([one.text for one in SAID], "\n")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{polyglot.origin}/v1")
    own = write_project(tmp_path, AGENTS[kind])
    process = started(tmp_path, VERBS)
    streams = process.communicate(timeout=600)
    assert process.returncode == 0, streams
    written = written_files(tmp_path, own)
    assert len({path for path in written if Path(path).stem == "report"}) == 7
    assert any("cassettes" in Path(path).parts for path in written) == (kind == "in_process")
    assert {path: found(content) for path, content in written.items() if found(content)} == {}
    assert [found(stream) for stream in streams] == [[], []]
    assert b"".join(written.values()).count(b"[redacted]") > 200
    if kind == "in_process":
        assert b"no login with" in streams[1]


def write_project(folder: Path, agent: str) -> set[str]:
    """Write the project, and return the names of its own files."""
    files = {
        "agentmut.yaml": project_file(agent, trials=40, timeout=10, secrets=SECRETS),
        "planted.json": json.dumps([one.text for one in SAID]),
        "saying.py": MODULE,
        "saying_program.py": PROGRAM,
        "broken_module.py": BROKEN,
        "scenarios.yaml": SCENARIOS,
    }
    return write_files(folder, files)


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
