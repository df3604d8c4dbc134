"""With `store.texts` no text of prompts, replies, arguments and results is in what agentmut keeps or prints."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agentmut.nouns.messages import ModelReply, ModelRequest
from agentmut.nouns.trace import Usage
from tests.wire.test_no_key_is_kept import started

TOLD = {
    "prompt": ("zorblax", "quimble", "frandit"),
    "user": ("meftoru", "vaskelin"),
    "reply": ("orlandix", "tuvwebo"),
    "argument": ("pellarin", "gristoma"),
    "result": ("sundrake", "wobeltin"),
    "error": ("krapuzin", "jolvester"),
    "stderr": ("hamdoric",),
}
"""Words that nobody says but this project, by who says them."""
MODULE = """
import os, sys
import agentmut, httpx

@agentmut.tool
def look_up(query, badge):
    return {"found": "sundrake", "more": ["wobeltin"]}

def run(config, input):
    said = [{"role": "system", "content": "It is now hamdoric. " + config.prompt}, {"role": "user", "content": input}]
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    with httpx.Client(trust_env=False) as client:
        reply = client.post(url, json={"model": "sim-large", "messages": said}).json()
    look_up("pellarin", badge="gristoma")
    if "quimble" not in config.prompt:
        raise RuntimeError("krapuzin: no jolvester")
    return "kind " + reply["choices"][0]["message"]["content"]
"""
PROJECT = """
version: 1
agent:
  adapter: python
  run: saying_module:run
  config: {prompt: "- Always say zorblax.\\n- Never quimble.\\n- Be frandit.", model: {name: sim-large}}
suite: {scenarios: scenarios.yaml, threshold: 0.5}
mutation: {operators: [prompt.drop_instruction], second_order: {sample: 1}}
statistics: {baseline: 12, n_max: 12, seed: 1, rounds: one}
budget: {trials: 250}
execution: {concurrency: 4, retries: 0, timeout: 10}
store: {texts: %s}
"""
SCENARIOS = """
- {name: s, input: tell me of meftoru, evaluators: [{contains: kind}, {not_contains: 'nothing of the kind'}]}
- {name: t, input: vaskelin, evaluators: [{regex: 'kind .*tuvwebo'}, {not_contains: absent}]}
"""
THEIRS = json.dumps(
    [
        {
            "task_id": number,
            "trial": 0,
            "reward": 1.0,
            "info": {"error": "krapuzin"},
            "traj": [
                {"role": "system", "content": "zorblax"},
                {"role": "user", "content": f"meftoru {number}"},
                {"role": "assistant", "content": "orlandix"},
            ],
        }
        for number in range(5)
    ]
)
"""Runs of another tool, in the format of tau-bench."""
VERBS = """
import json, sys
from pathlib import Path
from agentmut.cli import main

def called(*arguments, code=(0, 1, 3)):
    try:
        main(arguments)
    except SystemExit as ended:
        assert ended.code in code, (arguments, ended.code)

def statuses():
    result = json.loads(max(Path(".agentmut").rglob("result.json")).read_text())
    return [[row["id"], row["status"], row["trials"]] for row in result["mutants"]]

called("run", "--yes", "--trials", "60", code=(3,))
called("resume", "--trials", "4000", code=(0,))
ended = statuses()
called("run", "--yes", "--json", "--fresh", code=(0,))
assert statuses() == ended
for format in ("terminal", "json", "markdown", "junit", "sarif", "stryker", "html"):
    called("report", "--format", format, "--output", "report." + format)
Path("ended.txt").write_text(json.dumps(ended))
called("show", ended[0][0])
if "hashed" in Path("agentmut.yaml").read_text():
    sys.exit()  # the other verbs read what `none` writes, too
called("test", "--yes", "--trials", "20")
called("trials", "--json")
called("trials", "--trial", "1")
called("trials", "--trial", "1", "--json")
called("coverage", "--items", "all")
called("baseline", "save", "--trials", "20", "--yes")
called("baseline", "compare", "--yes")
called("export", "spans.jsonl", "--mutants")
called("export", "spans", "--format", "atif", "--mutants")
called("trend", "--json")
called("gate", "--json", code=(0, 1, 3, 4))
request = ["doctor", "--yes", "--save-request", "request.json"]
called("store", "copy", "copied.db", code=(0,))
called("import", "theirs.json", code=(2,))
called("serve", "--bundle", "pages", code=(0,))
for refused in (["rescore"], ["suggest"], ["suggest", "--apply", "all"], ["relations", "--yes"], request):
    called(*refused, code=(2,))
suite = Path("scenarios.yaml")
suite.write_text(suite.read_text().replace("{not_contains: absent}", "{expression: 'outputs[0]'}"))
called("test", "--yes", "--fresh", code=(4,))
"""


@pytest.mark.process
@pytest.mark.parametrize("kind", ["none", "hashed"])
def test_no_text_is_written_or_printed(
    kind: str, tmp_path: Path, warm: None, polyglot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(request: ModelRequest) -> ModelReply:
        return ModelReply(
            model=request.model, text="orlandix tuvwebo", usage=Usage(input_tokens=7, output_tokens=3)
        )

    polyglot.reply = reply
    monkeypatch.setenv("OPENAI_BASE_URL", f"{polyglot.origin}/v1")
    own = {"agentmut.yaml": PROJECT % kind, "saying_module.py": MODULE, "scenarios.yaml": SCENARIOS}
    own["theirs.json"] = THEIRS
    for name, text in own.items():
        (tmp_path / name).write_text(text)
    process = started(tmp_path, VERBS)
    streams = process.communicate(timeout=600)
    assert process.returncode == 0, streams[1][-2000:].decode()
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    written = {str(p.relative_to(tmp_path)): content for p, content in files.items() if p.name not in own}
    kept = {name: said(content) for name, content in written.items() if not name.endswith(".pyc")}
    assert {name: words for name, words in kept.items() if words} == {}
    assert [said(stream) for stream in streams] == [[], []]
    error = streams[1].decode()
    assert kind == "hashed" or "store.texts: none keeps none" in error  # of `suggest --apply`
    unfit = "scenarios.yaml:3: evaluator 'expression' of scenario 't': `outputs[0]` cannot be evaluated"
    assert kind == "hashed" or unfit in " ".join(error.split())
    ended = [status for _, status, _ in json.loads(written["ended.txt"])]
    assert "killed" in ended  # the dropped `quimble` is noticed
    assert "survived" in ended
    assert bool(re.search(rb"\[#[0-9a-f]{12}\]", b"".join(written.values()))) is (kind == "hashed")


def said(content: bytes) -> list[str]:
    """Return who says one of the words that are in the content."""
    return sorted(
        {f"{who}: {word}" for who, words in TOLD.items() for word in words if word.encode() in content}
    )
