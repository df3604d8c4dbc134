"""Every code block of docs/*.md is run or checked, and every command that is named exists with its options.

A page is read from top to bottom in a folder of its own. What becomes of a block is said by its language, or by a
comment on the line before it:

    ```console                               commands after "$ " are run; the lines after them must be in what they
                                             print, in this order ("..." stands for anything); "# exits with 1"
    ```sh                                    commands that are parsed by agentmut's own parser, and not run
    ```python                                run in one process at the end, with its functions `test_*`
    ```yaml                                  a project file, a part of one, or scenarios: read as agentmut reads them
    ```toml                                  read; entry points belong to groups that exist
    <!-- file: my_agent.py -->               written into the folder; "my_agent.py, continued": added to it
    <!-- starts with: quickstart.md -->      (anywhere) the folder is a copy of the one that page leaves
    <!-- checked: tests/docs/test_x.py -->   that file looks at it, and names the page
    <!-- transcript: of what -->             something that was printed once
    <!-- not run: reason -->                 nothing
"""

import configparser
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut.project.agent_section import ConfigSection
from agentmut.project.loading import load_project
from agentmut.project.schema import ProjectFile
from agentmut.seams.plugins import Group
from tests.named_commands import VERBS, check_line
from tests.warm_command import AGENTMUT, ROOT

DOCS = ROOT / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.md"))
BLOCK = re.compile(
    r"(?:^<!-- (?P<said>[^\n]*?) -->\n+)?^(?P<fence>```+)(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=fence)",
    re.MULTILINE | re.DOTALL,
)
AGENT = {"adapter": "python", "run": "agent:run", "config": {"prompt": "Be kind."}}
PROJECT: dict[str, Any] = {"version": 1, "agent": AGENT}
SCENARIOS = [{"name": "first", "input": "hi", "evaluators": [{"contains": "a"}]}]


@dataclass
class Block:
    """A fenced block, and where it stands."""

    place: str
    said: str
    language: str
    text: str


@dataclass
class Reading:
    """A page that is being read in its folder."""

    page: str
    folder: Path
    inner: Path = Path()
    """Where a `cd` has led."""
    programs: list[str] = field(default_factory=list)

    def read(self, block: Block) -> None:
        kind, _, argument = block.said.partition(": ")
        if kind == "file":
            name, _, continued = argument.partition(", ")
            path = self.folder / self.inner / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text((path.read_text() if continued else "") + block.text)
        elif kind == "checked":
            stem = self.page.removesuffix(".md")
            assert stem in (ROOT / argument).read_text(), f"{block.place}: {argument} does not name the page"
        elif kind in ("transcript", "not run"):
            assert len(argument) > 10, f"{block.place}: say of what, or why"
        else:
            find = getattr(self, f"_{block.language or 'plain'}", None)
            assert find, f"{block.place}: nothing is said about this block; see {Path(__file__).name}"
            find(block)

    def _console(self, block: Block) -> None:
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            line, _, expected = part.partition("\n")
            self._run(line, expected, block.place)

    def _run(self, line: str, expected: str, place: str) -> None:
        words = shlex.split(line, comments=True)
        if words[0] == "cd":
            self.inner /= words[1]
            return
        wanted = re.search(r"# exits with (\d+)", line)
        done = run(words, self.folder / self.inner)
        assert done.returncode == int(wanted[1] if wanted else 0), (
            f"{place}: {line}\n{done.stdout}{done.stderr}"
        )
        printed, at = " ".join((done.stdout + done.stderr).split()), 0
        for told in filter(None, (" ".join(row.split()) for row in expected.splitlines())):
            found = re.compile(".*?".join(map(re.escape, told.split("...")))).search(printed, at)
            assert found, f"{place}: {line} does not print {told!r} (any more, or here)\n{done.stdout}"
            at = found.end()

    def _sh(self, block: Block) -> None:
        for line in block.text.replace("\\\n", " ").splitlines():
            for command in line.partition("#")[0].split("&&"):
                check_command(shlex.split(command), block.place)

    _bash = _sh

    def _python(self, block: Block) -> None:
        self.programs.append(block.text)

    def _yaml(self, block: Block) -> None:
        written = yaml.safe_load(block.text)
        scratch = self.folder / f"yaml-{abs(hash(block.text))}"
        prepare(scratch)
        for module in self.folder.glob("*.py"):
            shutil.copy(module, scratch)
        if isinstance(written, list):
            (scratch / "scenarios" / "first.yaml").write_text(block.text)
            written = {}
        elif set(written) <= set(ConfigSection.model_fields):
            written = {"agent": {**AGENT, "config": written}}
        assert set(written) <= set(ProjectFile.model_fields), f"{block.place}: neither project nor scenarios"
        (scratch / "agentmut.yaml").write_text(yaml.safe_dump({**PROJECT, **written}))
        assert load_project(scratch, environment=AnyName())

    def _toml(self, block: Block) -> None:
        points = tomllib.loads(block.text)["project"]["entry-points"]
        known = {f"agentmut.{group.value}" for group in Group}
        assert set(points) <= known, block.place

    def _ini(self, block: Block) -> None:
        configparser.RawConfigParser().read_string(block.text)  # raises

    def end(self) -> None:
        """Run the Python of the page, all of it in one process."""
        if not self.programs:
            return
        call = "[act() for name, act in list(globals().items()) if name.startswith('test_')]"
        done = run(["python", "-c", "\n".join([*self.programs, call])], self.folder / self.inner)
        assert done.returncode == 0, f"{self.page}: {done.stdout}{done.stderr}"


class AnyName(dict[str, str]):
    """An environment in which every variable is set."""

    def __missing__(self, name: str) -> str:
        return "value"

    def __contains__(self, name: object) -> bool:
        return True

    def get(self, name: str, default: Any = None) -> Any:
        return "value"


def prepare(folder: Path) -> None:
    """What a project file of a page may name."""
    files = {
        "agent.json": '{"model": "m", "messages": [{"role": "system", "content": "Never guess."}]}',
        "tools.json": "[]", "prompt.md": "Never guess.", "system.md": "Never guess.", "prompts/desk.md": "Never guess.",
        "scenarios/first.yaml": yaml.safe_dump(SCENARIOS),
    }  # fmt: skip
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A command line of agentmut (forked from a warm process, also within `simulate --`), or a program in Python."""
    command = [part for word in words for part in (AGENTMUT if word in ("agentmut", "python") else [word])]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}", "COLUMNS": "100"}
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        stdin=subprocess.DEVNULL,
    )


def check_command(words: list[str], place: str) -> None:
    """A command that could be given. Of other programs only what this project can tell."""
    if not words:
        return
    if words[0] == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert set(words[1:]) <= set(targets), f"{place}: make {words[1:]}"
    elif words[:2] == ["pip", "install"]:
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        assert set(re.findall(r"[\w-]+", "".join(re.findall(r"\[(.*?)\]", words[-1])))) <= set(extras), place
    else:
        assert words[0] == "agentmut", f"{place}: only agentmut, make and pip can be checked: {words[0]}"
        verb = VERBS.get(tuple(words[1:3])) or VERBS.get(tuple(words[1:2]))
        assert verb, f"{place}: no verb {words[1]}"
        verb.command.make_context(verb.name, words[1 + len(verb.words) :]).close()


def blocks(page: str) -> Iterator[Block]:
    """Those of a page, in order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        place = f"docs/{page}:{text.count(chr(10), 0, found.start('fence')) + 1}"
        yield Block(place, found["said"] or "", found["language"], found["text"])


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory: pytest.TempPathFactory, warm: None) -> Callable[[str], Path]:
    """Reads a page, once, and gives the folder that it leaves."""
    read: dict[str, Path] = {}

    def play(page: str) -> Path:
        if page not in read:
            folder = tmp_path_factory.mktemp(page.removesuffix(".md"))
            start = re.search(r"<!-- starts with: (\S+) -->", (DOCS / page).read_text())
            if start:
                shutil.copytree(play(start[1]), folder, dirs_exist_ok=True)
            reading = Reading(page, folder)
            for block in blocks(page):
                reading.read(block)
            reading.end()
            read[page] = folder / reading.inner
        return read[page]

    return play


@pytest.mark.process
@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_a_page_runs_or_is_checked(page: str, folder_of: Callable[[str], Path]) -> None:
    assert folder_of(page)


@pytest.mark.parametrize("page", [*PAGES, "../README.md", "../CONTRIBUTING.md"])
def test_every_command_that_a_page_names_exists_with_its_options(page: str) -> None:
    text = BLOCK.sub("", (DOCS / page).read_text(encoding="utf-8"))
    for line in re.findall(r"`(agentmut [^`]+)`", text):
        check_line(line, page)


@pytest.mark.parametrize("page", [*PAGES, "../README.md"])
def test_files_of_this_project_that_a_page_names_exist(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    for name in re.findall(r"`((?:docs|examples|benchmarks|tests)/[\w./-]+)`", text):
        assert (ROOT / name).exists(), f"{page}: {name}"
