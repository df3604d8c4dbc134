"""400 carriers of secrets are said by agent, model, tools, hooks and evaluators: no output of a verb holds one."""

import json
import random
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from agentmut.nouns.messages import ModelReply, ModelRequest
from agentmut.nouns.trace import Usage
from tests.recording.third_list import NOT_FOUND, SOMETIMES_FOUND, third_list
from tests.wire.test_no_key_is_kept import started

LIST = {
    kind: make for kind, make in third_list().items() if kind not in NOT_FOUND and kind not in SOMETIMES_FOUND
}
TEXTS = [make(random.Random(seed)) for seed, make in enumerate(LIST.values())]
RUN = re.compile(r"[A-Za-z0-9+/_=%-]{8,}")
CHUNKS = 8
SAYING = """
import itertools, json, pathlib
TEXTS = json.loads((pathlib.Path(__file__).parent / "said.json").read_text())
TURN = itertools.count()

def some(count=12):
    place = next(TURN) * count
    return "\\n\\n".join(TEXTS[(place + i) % len(TEXTS)] for i in range(count))
"""
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
PROGRAM = f"""{SAYING}
import os, sys
TURN = itertools.count(os.getpid())
print(some(), file=sys.stderr)
print("kind", sys.stdin.read(), some())
sys.exit(os.getpid() % 4 == 0)
"""
PROJECT = """
version: 1
agent:
  %s
  config: {prompt: "- Be kind.\\n- Never shout.", model: {name: sim-large}}
suite: {scenarios: scenarios.yaml, threshold: 0.5}
mutation: {operators: [prompt.drop_instruction]}
statistics: {baseline: 12, n_max: 10, seed: 1, rounds: one}
budget: {trials: 60}
execution: {record: true, concurrency: 4, retries: 0, timeout: 30}
"""
AGENTS = {
    "in_process": "adapter: python\n  run: carrying:run",
    "command": f"adapter: command\n  command: [{sys.executable}, -S, -E, carrying_program.py]",
}
SCENARIOS = """
- {name: s, input: hello, evaluators: [{contains: kind}, {not_contains: 'nothing of the kind'}]}
- {name: t, input: good day, evaluators: [{not_contains: 'kind '}, {json_schema: {type: object}}]}
"""
WITH_HOOKS = (
    "- {name: u, input: good night, setup: 'carrying:set_up', evaluators: [{python: 'carrying:polite'}]}\n"
)
VERBS = """
import json, sys
from pathlib import Path
from agentmut.cli import main

def called(*arguments):
    try:
        main(arguments)
    except SystemExit as ended:
        assert ended.code in (0, 1, 2, 3, 4), (arguments, ended.code)

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


@pytest.mark.process
@pytest.mark.whole
@pytest.mark.parametrize("kind", AGENTS)
def test_no_carried_secret_is_written_or_printed(
    kind: str, tmp_path: Path, warm: None, polyglot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = iter(range(10**6))

    def reply(request: ModelRequest) -> ModelReply:
        place = next(turns) * 9
        text = "\n\n".join(TEXTS[(place + i) % len(TEXTS)] for i in range(9))
        return ModelReply(model=request.model, text=text, usage=Usage(input_tokens=7, output_tokens=3))

    polyglot.reply = reply
    monkeypatch.setenv("OPENAI_BASE_URL", f"{polyglot.origin}/v1")
    own = {
        "agentmut.yaml": PROJECT % AGENTS[kind],
        "said.json": json.dumps(TEXTS),
        "carrying.py": AGENT,
        "carrying_program.py": PROGRAM,
        "scenarios.yaml": SCENARIOS + (WITH_HOOKS if kind == "in_process" else ""),
        "theirs.json": theirs(),
    }
    for name, text in own.items():
        (tmp_path / name).write_text(text)
    process = started(tmp_path, VERBS)
    streams = process.communicate(timeout=1200)
    assert process.returncode == 0, streams[1][-3000:].decode()
    files = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    written = {str(p): c for p, c in files.items() if p.name not in own and p.suffix != ".pyc"}
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
