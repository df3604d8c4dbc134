"""Each verb that opens a store says on a server what it says on a file. `make test-postgres` runs it."""

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from typer.testing import CliRunner

from agentmut.cli.entry import app
from tests.postgres_server import PostgresServer

pytestmark = [pytest.mark.process, pytest.mark.whole]

AGENT = """
import hashlib
from agentmut.recording.current import current_trial

def run(config, input):
    word = input.split()[-1]
    drawn = int(hashlib.sha256(f"{current_trial().id} {word}".encode()).hexdigest()[:8], 16) / 2**32
    return word if drawn < (0.95 if f"say {word}" in config.prompt else 0.2) else "no idea"
"""
WORDS = ("alpha", "beta")
RECORDED = Path(__file__).parents[1] / "testdata" / "traces" / "openai_v2.jsonl"
VERBS = {
    "report": 0,
    "trials": 0,
    "trials --trial 7": 0,
    "coverage": 0,
    "suggest": 0,
    "gate": 3,  # two scenarios are left open
    "trend": 0,
    "show MUTANT": 0,
    "rescore": 0,
    "export OUT": 0,
    "test --yes": 0,
    "baseline save --yes": 0,
    "baseline compare --yes": 0,
    "relations --relation perturbation.noise --pairs 10 --yes": 0,
    "mutants": 0,
    "import RECORDED": 0,
    "analyze": 0,
    "serve --bundle SITE": 0,
    "run --yes": 0,
    "clean --yes --keep 1": 0,
}
"""What follows after a run was interrupted and resumed, with its exit code."""
VOLATILE = (
    (r"20\d{6}-\d{6}-[0-9a-f]{6}", "RUN"),
    (r"20\d\d-\d\d-\d\d( \d\d:\d\d(:\d\d)?)?", "WHEN"),
    (r"\b\d[\d.]* (ms|s|seconds)\b", "SECONDS"),
    (r" +", " "),
)
"""What no two runs share."""


class Said(NamedTuple):
    """What a command came to."""

    exit_code: int
    text: str


def write(folder: Path, store: dict[str, str] | None, **changes: Any) -> None:
    """Write the project; an agent is imported once a process, so each folder has a module of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    module = f"agent_in_{folder.name}"
    (folder / f"{module}.py").write_text(AGENT)
    rules = [*(f"Always say {word} when asked for {word}." for word in WORDS), "Never speak of gamma."]
    (folder / "prompt.md").write_text("".join(f"- {rule}\n" for rule in rules))
    suite = [{"name": w, "input": f"please say {w}", "evaluators": [{"contains": w}]} for w in WORDS]
    (folder / "scenarios.yaml").write_text(yaml.safe_dump(suite))
    config = {"prompt": "prompt.md"}
    project = {
        "version": 1,
        "agent": {"adapter": "python", "run": f"{module}:run", "config": config, "version": "1"},
        "suite": {"scenarios": "scenarios.yaml"},
        "mutation": {"operators": ["prompt.drop_instruction"]},
        "statistics": {"baseline": 40, "rounds": "one"},
        "execution": {"concurrency": 1},  # trials end in the order in which they start
        **({"store": store} if store else {}),
        **changes,
    }
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(project))


def said(folder: Path, *arguments: str) -> Said:
    """Carry a command out in this process; what it says is cleared of what no two runs share."""
    given = (
        ["serve", str(folder), *arguments[1:]]
        if arguments[0] == "serve"
        else [*arguments, "--project", str(folder)]
    )
    done = CliRunner().invoke(app, given)
    if done.exception and not isinstance(done.exception, SystemExit):
        return Said(-1, f"{done.exception!r}")
    return Said(done.exit_code, done.output)


def plain(text: str, folder: Path) -> str:
    """Return a text without what no two runs share."""
    for pattern, stands in ((re.escape(str(folder)), "FOLDER"), *VOLATILE):
        text = re.sub(pattern, stands, text, flags=re.MULTILINE)
    return text


def story(folder: Path, store: dict[str, str] | None) -> dict[str, Said]:
    """Interrupt a run by its budget, resume it, and return what that and each verb says."""
    write(folder, store, budget={"trials": 100})
    told = {"run": said(folder, "run", "--yes")}
    write(folder, store)
    told["resume"] = said(folder, "resume")
    result = json.loads(said(folder, "report", "--json").text)
    survivor = next(row["id"] for row in result["mutants"] if row["status"] == "survived")
    words = {
        "MUTANT": survivor,
        "RECORDED": str(RECORDED),
        "OUT": str(folder / "out"),
        "SITE": str(folder / "site"),
    }
    for verb in VERBS:
        told[verb] = said(folder, *(words.get(word, word) for word in verb.split()))
    return {verb: Said(code, plain(text, folder)) for verb, (code, text) in told.items()}


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder whose path fits into a line: pages cut longer ones, at a place that hangs on their length."""
    with tempfile.TemporaryDirectory(prefix="agentmut-") as folder:
        yield Path(folder)


def test_every_verb_says_on_a_server_what_it_says_on_a_file(server: PostgresServer, short_path: Path) -> None:
    on_file = story(short_path / "file", None)
    server.execute("create database verbs")  # `serve` lists the projects of a whole database
    on_server = story(short_path / "base", {"url": server.url("verbs"), "project": "verbs"})
    assert {verb: on_file[verb].exit_code for verb in on_file} == {"run": 3, "resume": 0, **VERBS}
    for verb, there in on_server.items():
        assert there == on_file[verb], verb
    assert "Mutation score 0.67" in on_server["resume"].text
    assert "2 killed, 1 survived" in on_server["resume"].text


def test_shards_that_share_a_store_are_merged_without_a_copy(server: PostgresServer, tmp_path: Path) -> None:
    store = {"url": server.url(), "project": "shards"}
    machines = first, second = [tmp_path / name / "desk" for name in ("one", "two")]
    for folder in machines:
        write(folder, store)
    assert said(first, "run", "--yes", "--baseline-only").exit_code == 0
    assert "holds no shard" in said(second, "merge").text
    assert said(first, "run", "--yes", "--shard", "1/2").exit_code == 0
    assert "shard 2/2 is missing" in said(second, "merge").text
    assert said(second, "run", "--yes", "--shard", "2/2").exit_code == 0
    for folder in machines:  # any machine puts them together
        merged = said(folder, "merge")
        assert merged.exit_code == 0
        assert "Mutation score 0.67" in merged.text
