"""400 carriers of secrets are said by agent, model, tools, hooks and evaluators: no output of a verb holds one."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from tests.recording.third_list import NOT_FOUND, SOMETIMES_FOUND, third_list
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

LIST = {
    kind: make for kind, make in third_list().items() if kind not in NOT_FOUND and kind not in SOMETIMES_FOUND
}
TEXTS = [make(random.Random(seed)) for seed, make in enumerate(LIST.values())]
RUN = re.compile(r"[A-Za-z0-9+/_=%-]{8,}")
CHUNKS = 8
SAYING = saying("said.json", 12, "\n\n")
AGENT = f"""{SAYING}
import os
import agentmut, httpx

@agentmut.tool
def look_up(query, note):
    if next(TURN) % 5 == 0:
        raise LookupError("no page of " + some(3))
    return {{"found": some(), "list": [some(2), {{"more": some(2)}}]}}

def set_up(scenario):
    if next(TURN) % 7 == 0:
        raise RuntimeError("not set up: " + some(3))

def polite(scenario, trace):
    return next(TURN) % 3 == 0, "rude: " + some(3)

def run(config, input):
    said = [{{"role": "system", "content": config.prompt}}, {{"role": "user", "content": input + "\\n" + some()}}]
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    body = {{"model": "sim-large", "messages": said, "stream": next(TURN) % 2 == 0, "metadata": {{"note": some(3)}}}}
    with httpx.Client(trust_env=False) as client:
        reply = client.post(url, json=body).text
    try:
        look_up(some(), note=some(2))
    except LookupError:
        pass
    if body["stream"]:
        reply = "streamed"  # in an answer, raw events are text like any other
    if "shout" not in config.prompt:
        raise RuntimeError("cannot log in with " + some())
    return "kind " + some() + "\\n" + reply
"""
PROGRAM = program_that_says(SAYING) + "sys.exit(os.getpid() % 4 == 0)\n"
AGENTS = agents("carrying")
SCENARIOS = """
- {name: s, input: hello, evaluators: [{contains: kind}, {not_contains: 'nothing of the kind'}]}
- {name: t, input: good day, evaluators: [{not_contains: 'kind '}, {json_schema: {type: object}}]}
"""
WITH_HOOKS = (
    "- {name: u, input: good night, setup: 'carrying:set_up', evaluators: [{python: 'carrying:polite'}]}\n"
)
VERBS = (
    CALLED
    + """
called("run", "--yes", "--json")
first = max(Path(".agentmut").rglob("result.json"))
called("run", "--yes", "--fresh", "--continue", "--full")
taken = [json.loads(path.read_text()) for path in Path(".agentmut").rglob("cassettes/*")]
for one in taken[:2]:
    called("replay", one["trial"])
    called("replay", one["trial"], "--json")
for format in ("terminal", "json", "markdown", "junit", "sarif", "stryker", "html"):
    called("report", "--format", format, "--output", "report." + format)
called("report", "--full", "--compare", str(first))
called("report", "--bundle", "bundled", "--format", "html", "--runs")
for row in json.loads(first.read_text())["mutants"][:2]:
    called("show", row["id"])
called("test", "--yes", "--trials", "20", "--json")
called("trials", "--csv")
called("trials", "--failed", "--full")
for number in range(1, 12):
    called("trials", "--trial", str(number))
    called("trials", "--trial", str(number), "--json")
called("coverage", "--items", "all", "--full")
called("rescore")
called("suggest", "--full")
called("suggest", "--scenarios", "--trials", "10", "--json")
called("relations", "--stored", "--json")
called("relations", "--yes", "--sources", "2", "--save", "first")
called("baseline", "save", "--trials", "20", "--yes")
called("baseline", "compare", "--yes", "--json")
called("export", "spans.jsonl", "--mutants")
called("export", "spans", "--format", "atif")
called("import", "theirs.json")
called("analyze", "--full", "--write-scenarios", "written.yaml")
called("export", "imported.jsonl", "--imported")
called("watch", "--json")
called("trend", "--json")
called("gate", "--json")
called("doctor", "--yes", "--json", "--save-request", "request.json")
called("serve", ".", "--bundle", "pages")
called("store", "copy", "copied.db")
"""
)


@pytest.mark.process
@pytest.mark.whole
@pytest.mark.parametrize("kind", AGENTS)
def test_no_carried_secret_is_written_or_printed(
    kind: str, tmp_path: Path, warm: None, polyglot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    polyglot.reply = model_that_says(TEXTS, "\n\n")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{polyglot.origin}/v1")
    files = {
        "agentmut.yaml": project_file(AGENTS[kind], trials=60, timeout=30),
        "said.json": json.dumps(TEXTS),
        "carrying.py": AGENT,
        "carrying_program.py": PROGRAM,
        "scenarios.yaml": SCENARIOS + (WITH_HOOKS if kind == "in_process" else ""),
        "theirs.json": theirs(),
    }
    own = write_files(tmp_path, files)
    process = started(tmp_path, VERBS)
    streams = process.communicate(timeout=1200)
    assert process.returncode == 0, streams[1][-3000:].decode()
    written = written_files(tmp_path, own)
    kept = written | dict(zip(("stdout", "stderr"), streams, strict=True))
    leaks = {(one, Path(name).suffix or name) for name, content in kept.items() for one in found(content)}
    assert sorted(leaks)[:40] == [], sorted({name for _, name in leaks})
    assert {"report.html", "spans.jsonl", "imported.jsonl", "copied.db"} <= written.keys()
    assert b"".join(written.values()).count(b"[redacted]") > 500


def theirs() -> str:
    """Return runs of another tool that say the secrets, in the format of tau-bench."""
    said = ["\n\n".join(TEXTS[number::CHUNKS]) for number in range(CHUNKS)]
    return json.dumps(
        [
            {
                "task_id": number,
                "trial": 0,
                "reward": 1.0,
                "info": {"error": text},
                "traj": [{"role": "user", "content": text}, {"role": "assistant", "content": text}],
            }
            for number, text in enumerate(said)
        ]
    )


def marks() -> dict[str, set[bytes]]:
    """Return what recognises the secret of each carrier: runs that another drawing does not have."""
    others = {kind: make(random.Random(1000)) for kind, make in LIST.items()}
    return {
        kind: {run.encode() for run in RUN.findall(text) if run not in others[kind]}
        for kind, text in zip(LIST, TEXTS, strict=True)
    }


MARKS = marks()


def found(content: bytes) -> list[str]:
    """Return the carriers of which a run is in the content."""
    return sorted(f"{kind}: {run.decode()}" for kind, runs in MARKS.items() for run in runs if run in content)


def test_the_search_finds_what_is_said() -> None:
    assert len([kind for kind, runs in MARKS.items() if runs]) > 380
    assert all(found(text.encode()) for text, runs in zip(TEXTS, MARKS.values(), strict=True) if runs)
