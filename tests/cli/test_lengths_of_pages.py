"""At a terminal, every verb prints at most 40 lines, and a run 25: what is longer is cut, and says how to see all."""

import os
import subprocess
import threading
from pathlib import Path

import pytest

from agentmut.cli.entry import VERBS
from agentmut.cli.output import MOST_LINES, cut_page
from agentmut.report.terminal.summary_page import LINES
from tests.warm_command import AGENTMUT, ROOT

UNSEEN = {
    "resume": "prints what `run` prints",
    "merge": "prints what `run` prints",
    "replay": "needs recorded trials, and lists requests",
    "simulate": "prints what its command prints",
    "proxy": "prints what its command prints",
    "schema": "prints a JSON Schema, for programs",
    "serve": "prints an address, and shows pages in a browser",
    "store": "copies to another store, and needs a server for that",
}
GIVEN = [
    ["mutants"],
    ["plan"],
    ["show", "ID"],
    ["report"],
    ["trials"],
    ["suggest"],
    ["coverage"],
    ["rescore"],
    ["relations", "--preview"],
    ["relations", "--stored"],
    ["test", "--preview"],
    ["test", "--yes"],
    ["baseline", "save", "--trials", "20", "--yes"],
    ["baseline", "compare", "--yes", "--fresh"],
    ["gate"],
    ["trend"],
    ["doctor", "--yes"],
    ["export", "traces.jsonl"],
    ["import", "traces.jsonl"],
    ["analyze"],
    ["watch", "traces.jsonl"],
    ["clean", "--dry-run"],
]


def at_a_terminal(folder: Path, *arguments: str) -> list[str]:
    """The lines that a command prints on a terminal of 80 columns."""
    leader, follower = os.openpty()
    read: list[bytes] = []

    def drain() -> None:
        while True:
            try:
                read.append(os.read(leader, 65536))
            except OSError:  # the other end is closed
                return

    reader = threading.Thread(target=drain)
    reader.start()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "NO_COLOR": "1"}
    subprocess.run(
        [*AGENTMUT, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=subprocess.PIPE,
        timeout=600,
    )
    os.close(follower)
    reader.join()
    os.close(leader)
    return b"".join(read).decode().replace("\r", "").splitlines()


@pytest.mark.process
@pytest.mark.whole
def test_every_verb_fits_on_a_page_and_a_run_in_25_lines(tmp_path: Path) -> None:
    started = at_a_terminal(tmp_path, "init")
    run = at_a_terminal(tmp_path, "run", "--yes")
    (page,) = tmp_path.glob(".agentmut/runs/*/report.html")
    assert 8 <= len(run) <= LINES, "\n".join(run)
    assert max(map(len, run)) <= 80
    assert f"Page   {page.relative_to(tmp_path)}" in run
    survivor = next(line.split()[1] for line in run if line.startswith("1. "))
    lengths = {"init": len(started)}
    for words in GIVEN:
        printed = at_a_terminal(tmp_path, *(survivor if word == "ID" else word for word in words))
        assert printed, words
        lengths[" ".join(words)] = len(printed)
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}
    assert {name.split()[0] for name in lengths} | {"run", *UNSEEN} == set(VERBS)
    assert len(at_a_terminal(tmp_path, "trials", "--full")) > MOST_LINES


def test_a_long_page_keeps_its_head_and_its_last_paragraph() -> None:
    text = "\n".join(f"line {number}" for number in range(60)) + "\n\nNext: `agentmut suggest`\n"
    lines = cut_page(text, "--full").splitlines()
    assert len(lines) == MOST_LINES
    assert lines[0] == "line 0"
    assert lines[-3:] == ["... 23 more lines; add --full to see all", "", "Next: `agentmut suggest`"]


def test_a_short_page_is_left_as_it_is() -> None:
    text = "a\n" * MOST_LINES
    assert cut_page(text, "--full") == text
