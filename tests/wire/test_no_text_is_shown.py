"""With `store.texts` none and hashed, no verb and no page that reads the store shows a text of a run."""

import os
from pathlib import Path
from typing import Any

import pytest

from agentmut.nouns.messages import ModelReply, ModelRequest
from agentmut.nouns.trace import Usage
from tests.wire.served_pages import PAGES
from tests.wire.test_no_key_is_kept import started
from tests.wire.test_no_text_is_kept import MODULE, PROJECT, SCENARIOS, THEIRS, said

SUITE = """
import os
import httpx, pytest

def asked(text, config):
    said = [{"role": "system", "content": config.prompt}, {"role": "user", "content": "meftoru " + text}]
    with httpx.Client(trust_env=False) as client:
        url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
        reply = client.post(url, json={"model": "sim-large", "messages": said}).json()
    if "quimble" not in config.prompt:
        return "krapuzin"
    return reply["choices"][0]["message"]["content"]

def test_reply(agentmut_config):
    assert "orlandix" in asked("vaskelin", agentmut_config)
"""
VERBS = f"""
import contextlib, json, shutil, sys
from pathlib import Path
from agentmut.cli import main
{PAGES}
def called(*arguments, code=(0, 1, 3)):
    try:
        main(arguments)
    except SystemExit as ended:
        assert ended.code in code, (arguments, ended.code)

called("run", "--yes", "--json", code=(0,))
first = max(Path(".agentmut").rglob("result.json"))
assert live("run", "--yes", "--fresh", "--serve", "--full") > 1
rows = json.loads(first.read_text())["mutants"]
survived = [row["id"] for row in rows if row["status"] == "survived"]
for row in rows:
    called("show", row["id"])
    called("show", row["id"], "--json")
for format in ("terminal", "json", "markdown", "junit", "sarif", "stryker", "html"):
    called("report", "--full", "--format", format, "--output", "report." + format)
called("report", "--full", "--compare", str(first))
called("report", "--bundle", "bundled", "--format", "html", "--runs")
called("test", "--yes", "--trials", "20", "--json")
called("report", "--full", "--format", "html", "--output", "test.html")
for more in ((), ("--csv",), ("--failed", "--full"), ("--json",)):
    called("trials", *more)
for number in range(1, 8):
    called("trials", "--trial", str(number))
    called("trials", "--trial", str(number), "--json")
called("coverage", "--items", "all", "--full")
called("coverage", "--json")
called("baseline", "save", "--trials", "20", "--yes")
for more in ((), ("--behaviour",), ("--json", "--behaviour")):
    called("baseline", "compare", "--yes", *more)
called("test", "--yes", "--behaviour", "default")
for refused in (
    ["rescore"], ["replay"], ["suggest"], ["suggest", "--json"], ["suggest", "--scenarios", "--trials", "5", "--yes"],
    ["relations", "--stored"], ["relations", "--stored", "--json"], ["relations", "--yes", "--save", "first"],
    ["relations", "--survivors"], ["analyze", "--full"], ["import", "theirs.json"], ["watch"],
    ["export", "imported.jsonl", "--imported"],
):
    called(*refused, code=(0, 1, 2))
called("export", "spans.jsonl", "--mutants")
called("export", "spans", "--format", "atif", "--mutants")
for more in ((), ("--json",)):
    called("trend", *more)
    called("gate", *more, code=(0, 1, 3, 4))
assert team(".") > 2
called("serve", ".", "--bundle", "pages", code=(0,))
called("store", "copy", "copied.db", code=(0,))
called("run", "--yes", "--fresh", "--baseline-only", code=(0,))
shards = (Path("..", "one"), Path("..", "two"))
for shard in shards:
    shutil.copytree(".", shard)
for number, shard in enumerate(shards, 1):
    with contextlib.chdir(shard):
        called("run", "--yes", "--shard", str(number) + "/2", code=(0,))
called("merge", *map(str, shards), code=(0,))
project = Path("agentmut.yaml")
project.write_text(project.read_text().replace("scenarios: scenarios.yaml", "pytest: test_desk.py"))
assert tested("--agentmut", "--agentmut-yes") == 0
called("report", "--full")
called("trials", "--trial", "1")
called("clean", "--keep", "1", "--yes", code=(0,))
"""


@pytest.mark.process
@pytest.mark.whole
@pytest.mark.parametrize("kind", ["none", "hashed"])
def test_no_verb_and_no_page_shows_a_text(
    kind: str, tmp_path: Path, warm: None, polyglot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(request: ModelRequest) -> ModelReply:
        usage = Usage(input_tokens=7, output_tokens=3)
        return ModelReply(model=request.model, text="orlandix tuvwebo", usage=usage)

    polyglot.reply = reply
    monkeypatch.setenv("OPENAI_BASE_URL", f"{polyglot.origin}/v1")
    folder = tmp_path / "project"
    folder.mkdir()
    own = {
        "agentmut.yaml": PROJECT % kind,
        "saying_module.py": MODULE,
        "scenarios.yaml": SCENARIOS,
        "theirs.json": THEIRS,
        "test_desk.py": SUITE,
    }
    for name, text in own.items():
        (folder / name).write_text(text)
    process = started(folder, VERBS)
    streams = process.communicate(timeout=900)
    assert process.returncode == 0, (streams[1][-3000:].decode(), streams[0][-1000:].decode())
    made = (path for path in tmp_path.rglob("*") if path.is_file() and path.name not in own)
    kept = {os.path.relpath(path, folder): path.read_bytes() for path in made if path.suffix != ".pyc"}
    told = kept | dict(zip(("stdout", "stderr"), streams, strict=True))
    assert {name: words for name, text in told.items() if (words := said(text))} == {}
    assert {
        "served-live-states.txt",
        "served-team-1.txt",
        "served-pytest-0.txt",
        "report.html",
    } <= kept.keys()
    assert b"killed" in kept["served-live-states.txt"]
    assert b"The words of changes are left out" in kept["served-live-states.txt"]
