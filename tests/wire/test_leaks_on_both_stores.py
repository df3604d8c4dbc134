"""200 planted secrets, said by everything that an agent meets, on both stores: none is in what is kept or printed.

The runs fork, import runs of another tool, export, and make the pages of `serve`. With `store.texts` none and hashed,
which refuse forks, no other word of a run is kept either. The server is used where `make test-postgres` names one.
"""

import json
import re
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from agentmut.nouns.messages import ModelReply, ModelRequest
from agentmut.nouns.trace import Usage
from tests.postgres_server import PostgresServer, programs
from tests.recording.planted import planted_secrets
from tests.recording.test_secret_forms import leaks
from tests.wire.test_no_key_is_kept import started

PLANTED = planted_secrets()
CHUNKS = 5
CHUNK = len(PLANTED) // CHUNKS
WORDS = ("zorblax", "quimble", "orlandix", "pellarin", "sundrake", "krapuzin", "hamdoric", "meftoru")
"""Words that nobody says but this project: in prompts, replies, arguments, results, errors and questions."""
MODULE = """
import json, os, re
from pathlib import Path
import agentmut, httpx

SAID = json.loads(Path("said.json").read_text())

@agentmut.tool
def look_up(query):
    return {"found": "sundrake", "more": query.partition(" ")[2]}

def run(config, input):
    chunk = SAID[int(re.search(r"chunk (\\d)", input)[1])]
    prompt = "It is hamdoric. " + config.prompt
    said = [{"role": "system", "content": prompt}, {"role": "user", "content": input + chunk}]
    with httpx.Client(trust_env=False) as client:
        url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
        reply = client.post(url, json={"model": "sim-large", "messages": said}).json()
    look_up("pellarin " + chunk)
    if "quimble" not in config.prompt:
        raise RuntimeError("krapuzin " + chunk)
    return "kind " + reply["choices"][0]["message"]["content"]
"""
PROJECT = """
version: 1
agent:
  adapter: python
  run: planted_module:run
  config: {prompt: "- Always say zorblax.\\n- Never quimble.", model: {name: sim-large}}
suite: {scenarios: scenarios.yaml, threshold: 0.5}
mutation: {operators: [prompt.drop_instruction]}
statistics: {baseline: 10, n_max: 10, seed: 1, rounds: one}
execution: {concurrency: 4, retries: 0, timeout: 30, fork: %s, record: %s}
store: {texts: %s%s}
"""
SCENARIOS = "".join(
    f"- {{name: s{n}, input: 'meftoru chunk {n} ', evaluators: [{{contains: kind}}]}}\n"
    for n in range(CHUNKS)
)
VERBS = """
import json, sys
from pathlib import Path
from agentmut.cli import main

def called(*arguments, code=(0, 1, 3)):
    try:
        main(arguments)
    except SystemExit as ended:
        assert ended.code in code, (arguments, ended.code)

full = "texts: full" in Path("agentmut.yaml").read_text()
called("run", "--yes", "--trials", "70", code=(3,))
called("resume", "--trials", "4000", code=(0,))
result = json.loads(max(Path(".agentmut").rglob("result.json")).read_text())
assert result["status"] == "finished", result["status"]
killed = [row["id"] for row in result["mutants"] if row["status"] == "killed"]
assert killed, result["mutants"]
for format in ("terminal", "json", "markdown", "junit", "sarif", "stryker", "html"):
    called("report", "--format", format, "--output", "report." + format)
called("show", killed[0])
called("trials", "--json")
called("trials", "--trial", "1", "--json")
called("coverage", "--items", "all")
called("baseline", "save", "--trials", "20", "--yes")
called("export", "spans.jsonl", "--mutants")
called("import", "theirs.json", code=(0,) if full else (2,))
called("analyze", "--json", code=(0, 2))
called("serve", ".", "--bundle", "pages", code=(0,))
if full:
    called("suggest")
    called("rescore")
    called("replay", "--json", code=(0, 1, 3, 4))
"""
STORES = ["file", "server"]


@pytest.fixture
def server() -> Iterator[PostgresServer | None]:
    """A server, where there is one."""
    with ExitStack() as held:
        found = programs()
        yield held.enter_context(PostgresServer(found)) if found else None


@pytest.mark.process
@pytest.mark.whole
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("texts", ["full", "hashed", "none"])
def test_nothing_leaks_with_forks_imports_and_pages(
    texts: str, store: str, tmp_path: Path, warm: None, polyglot: Any, request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    server = request.getfixturevalue("server") if store == "server" else None
    if store == "server" and server is None:
        pytest.skip("make test-postgres")
    said = ["\n".join(one.text for one in PLANTED[n * CHUNK : (n + 1) * CHUNK]) for n in range(CHUNKS)]

    def reply(asked: ModelRequest) -> ModelReply:
        found = re.search(r"chunk (\d)", str(asked))
        assert found
        text = f"orlandix {said[int(found[1])]}"
        return ModelReply(model=asked.model, text=text, usage=Usage(input_tokens=7, output_tokens=3))

    polyglot.reply = reply
    monkeypatch.setenv("OPENAI_BASE_URL", f"{polyglot.origin}/v1")
    place = f", url: '{server.url()}', project: leaks" if server else ""
    own = {
        "agentmut.yaml": PROJECT % (*[str(texts == "full").lower()] * 2, texts, place),
        "planted_module.py": MODULE,
        "scenarios.yaml": SCENARIOS,
        "said.json": json.dumps(said),
        "theirs.json": theirs(said),
    }
    for name, text in own.items():
        (tmp_path / name).write_text(text)
    process = started(tmp_path, VERBS)
    streams = process.communicate(timeout=1200)
    assert process.returncode == 0, streams[1][-3000:].decode()
    files = {
        str(path.relative_to(tmp_path)): path.read_bytes()
        for path in tmp_path.rglob("*")
        if path.is_file() and path.name not in own and path.suffix != ".pyc"
    }
    assert bool(server) is not any(name.endswith("store.db") for name in files)
    kept = files | (rows(server) if server else {}) | dict(zip(("stdout", "stderr"), streams, strict=True))
    assert {name: found for name, content in kept.items() if (found := leaked(content))} == {}
    words = {name: [word for word in WORDS if word.encode() in content] for name, content in kept.items()}
    assert (sum(map(len, words.values())) > 0) is (texts == "full"), words


def theirs(said: list[str]) -> str:
    """Return runs of another tool that say the secrets, in the format of tau-bench."""
    told = [
        [
            {"role": "user", "content": f"meftoru {chunk}"},
            {"role": "assistant", "content": f"orlandix {chunk}"},
        ]
        for chunk in said
    ]
    runs = [
        {"task_id": n, "trial": 0, "reward": 1.0, "info": {"error": said[n]}, "traj": turns}
        for n, turns in enumerate(told)
    ]
    return json.dumps(runs)


def rows(server: PostgresServer) -> dict[str, bytes]:
    """Return what each table of the server holds; imported runs are unpacked."""
    listed = server.execute("select tablename from pg_tables where schemaname = 'agentmut_leaks'")
    found = {name: server.execute(f'select * from agentmut_leaks."{name}"') for (name,) in listed}
    return {name: b"\n".join(plain(value) for row in table for value in row) for name, table in found.items()}


def plain(value: Any) -> bytes:
    if not isinstance(value, bytes):
        return str(value).encode()
    return zlib.decompress(value) if value[:1] == b"\x78" else value


def leaked(content: bytes) -> list[str]:
    """Return the kinds of secrets of which eight characters are in the content."""
    text = content.decode("utf-8", "replace")
    return sorted({one.kind for one in PLANTED if leaks(text, one.secret)})
