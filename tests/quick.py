"""`make quick`: run the tests nearest to what changed, within a budget of processor time.

The import graph says which tests are near: those that import a changed module, then those that import a module that
imports it, and so on. A face is seen through: `from agentmut.nouns import Mutant` counts as an import of the module
that defines `Mutant`. Tests that carry a marker (whole, browser, process, framework, long) are left to `make test`.
"""

import argparse
import ast
import re
import resource
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAPPED = ("adapters", "operators", "relations")
MARKERS = ("whole", "browser", "process", "framework", "long")
PROCESSOR_SECONDS = 15.0
MOST_FILES = 15
"""Files that are collected: to import a file of tests takes processor time before its first test runs."""


def changed_files(since: str) -> list[str]:
    """List the files that differ from a revision, and those that git does not know yet, as paths from the root.

    Raises `SystemExit` with git's words for a revision that it does not know.
    """
    commands = (
        ["git", "diff", "--name-only", since],
        ["git", "ls-files", "--others", "--exclude-standard"],
    )
    found = [subprocess.run(c, cwd=ROOT, capture_output=True, text=True, check=False) for c in commands]
    if any(done.returncode for done in found):
        sys.exit(f"quick: {''.join(done.stderr for done in found).strip()}. Name a revision with SINCE=.")
    return sorted({line for done in found for line in done.stdout.splitlines()})


def module_of(path: str) -> str:
    """Give the dotted name under which a file of Python is imported."""
    parts = list(Path(path).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(["agentmut", *parts] if parts[0] in MAPPED else parts)


@cache
def source_files() -> Mapping[str, Path]:
    """Map every module of the package and of its tests to its file."""
    folders = ("agentmut", *MAPPED, "tests")
    files = (f for folder in folders for f in (ROOT / folder).rglob("*.py") if "testdata" not in f.parts)
    return {module_of(str(f.relative_to(ROOT))): f for f in files}


@cache
def face(package: str) -> Mapping[str, str]:
    """Map the names of a room's face to the modules that define them; empty for a module without a face."""
    stub = source_files().get(package, ROOT / "nothing").with_suffix(".pyi")
    if not stub.exists() or stub.stem != "__init__":
        return {}
    lines = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom)]
    return {alias.name: f"{package}.{node.module}" for node in lines for alias in node.names}


def definition(module: str, name: str) -> str:
    """Give the module that `from module import name` takes the name from."""
    if name in face(module):
        return definition(face(module)[name], name)
    return f"{module}.{name}" if f"{module}.{name}" in source_files() else module


def statements(parent: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements below a node. Expressions are most of a tree, and hold none."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            yield node
            yield from statements(node)


def imports(file: Path) -> Iterator[str]:
    """Name the modules that a file imports, at its top or within a function."""
    for node in statements(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (definition(node.module, alias.name) for alias in node.names)


@cache
def importers() -> Mapping[str, set[str]]:
    """Map every module to the modules that import it."""
    found: dict[str, set[str]] = {}
    for module, file in source_files().items():
        for imported in imports(file):
            found.setdefault(imported, set()).add(module)
    return found


def changed_modules(files: Iterable[str]) -> list[str]:
    """Name the modules that changed. A file of data stands for the modules beside it, a page for its tests."""
    found: list[str] = []
    for path in files:
        folder = ROOT / path
        if path.endswith(".py"):
            found.append(module_of(path))
        elif path.endswith(".md"):
            found += [m for m in source_files() if m.startswith("tests.docs.")]
        elif path == "pyproject.toml":
            found += [m for m in source_files() if m.startswith("tests.packaging.")]
        else:
            found += [m for m, file in source_files().items() if file.parent == folder.parent]
    return found


def nearest_tests(files: Iterable[str]) -> list[Path]:
    """List the files of tests that reach a changed file over imports, the nearest first."""
    reached = dict.fromkeys(changed_modules(files))
    graph, queue = importers(), deque(reached)
    while queue:
        for module in sorted(graph.get(queue.popleft(), ())):
            if module not in reached:
                reached[module] = None
                queue.append(module)
    tests = (source_files().get(module, ROOT) for module in reached)
    return [
        file for file in tests if file.name.startswith("test_") and file.suffix == ".py" and not is_slow(file)
    ]


def is_slow(file: Path) -> bool:
    """Whether all tests of a file carry one of the markers: then it need not even be imported."""
    marks = re.findall(r"^pytestmark = (.*)", file.read_text("utf-8"), re.MULTILINE)
    return any(f"pytest.mark.{marker}" in line for line in marks for marker in MARKERS)


def processor_seconds() -> float:
    """Add up the processor time of this process and of the processes it has waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


class Budget:
    """Skips the tests that are left when the processor time is used up."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def pytest_runtest_setup(self) -> None:
        if processor_seconds() > self.seconds:
            pytest.skip(f"{self.seconds:.0f} s of processor time are used up: `make test` runs this test")


def main() -> int:
    """Run the nearest tests. Exit with pytest's code; with 0 where no test imports what changed."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--since", default="HEAD", help="The revision that the files are compared with.")
    since = options.parse_args().since
    files = changed_files(since)
    tests = nearest_tests(files)
    print(f"{len(files)} files differ from {since}; {len(tests)} files of tests import them.")
    if not tests:
        return 0
    nearest = [str(file.relative_to(ROOT)) for file in tests[:MOST_FILES]]
    code = pytest.main(
        ["-q", "-m", " and ".join(f"not {one}" for one in MARKERS), "-n", "0", *nearest],
        plugins=[Budget(PROCESSOR_SECONDS)],
    )
    return 0 if code == pytest.ExitCode.NO_TESTS_COLLECTED else int(code)


if __name__ == "__main__":
    sys.exit(main())
