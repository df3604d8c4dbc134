"""The regular expressions of the product: each that is compiled while its modules are imported, and how it is used."""

import ast
import importlib
import pkgutil
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import agentmut

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("agentmut", "adapters", "operators", "relations")
METHODS = {"match": "match", "fullmatch": "fullmatch", "search": "finditer"} | dict.fromkeys(
    ("finditer", "findall", "sub", "subn", "split"), "finditer"
)
"""What is called of a pattern, and what is measured for it; a search may begin at each character, too."""
_CALL = re.compile(rf"\b(\w+)\.({'|'.join(METHODS)})\b")


class Compiled(NamedTuple):
    """A pattern, and where it is compiled."""

    pattern: str
    flags: int
    file: str
    """The file, from the root of the repository."""
    name: str
    """The name that it is given there; empty for a pattern that has none."""
    methods: tuple[str, ...]
    """What is called of it: `match`, `fullmatch`, `finditer`."""

    @property
    def place(self) -> str:
        """Return the file, and the name or the beginning of the pattern."""
        return f"{self.file}:{self.name or repr(self.pattern[:60])}"


def compiled_patterns() -> list[Compiled]:
    """Return the patterns, by importing all modules whose libraries are installed; call it in a fresh process."""
    found: dict[tuple[str, int], tuple[Path, int]] = {}
    real: Any = re._compile  # type: ignore[attr-defined]  # `re.compile` and all others go through it

    def recorded(pattern: Any, flags: int) -> Any:
        compiled = real(pattern, flags)
        place = _caller()
        if place and isinstance(compiled.pattern, str):
            found.setdefault((compiled.pattern, compiled.flags), place)
        return compiled

    re._compile = recorded  # type: ignore[attr-defined]
    try:
        _import_all()
    finally:
        re._compile = real  # type: ignore[attr-defined]
    return sorted(_described(*key, *place) for key, place in found.items())


def _caller() -> tuple[Path, int] | None:
    """Return the line of the product that compiles a pattern."""
    frame = sys._getframe(2)
    while frame.f_back and Path(frame.f_code.co_filename).parent.name == "re":
        frame = frame.f_back
    path = Path(frame.f_code.co_filename)
    return (path, frame.f_lineno) if _is_of_the_product(path) else None


def _is_of_the_product(path: Path) -> bool:
    """Whether a file is of a room, and not of a test or of an environment that stands in the folder."""
    return path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in PRODUCT


def _import_all() -> None:
    for module in pkgutil.walk_packages(agentmut.__path__, "agentmut.", onerror=lambda _: None):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ImportError:
                continue  # a framework of another environment


def _described(pattern: str, flags: int, path: Path, line: int) -> Compiled:
    name = next((one.name for one in _assigned(path) if one.first <= line <= one.last), "")
    return Compiled(pattern, flags, str(path.relative_to(ROOT)), name, _methods(path, name))


class _Assigned(NamedTuple):
    name: str
    first: int
    last: int


@cache
def _assigned(path: Path) -> tuple[_Assigned, ...]:
    """Return the names that a module binds, with their lines."""

    def names() -> Iterator[_Assigned]:
        for node in ast.parse(path.read_text("utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
            for target in targets:
                if isinstance(target, ast.Name):
                    yield _Assigned(target.id, node.lineno, node.end_lineno or node.lineno)

    return tuple(names())


def _methods(path: Path, name: str) -> tuple[str, ...]:
    """Return what is called of a pattern in its file, and elsewhere if its name is public; all, if nothing is found."""
    called = _called(path.read_text("utf-8")) if name.startswith("_") else _called_anywhere()
    return tuple(sorted(called.get(name, {"finditer"})))


@cache
def _called(text: str) -> dict[str, set[str]]:
    """Return what a text calls of each name."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, method in _CALL.findall(text):
        found[name].add(METHODS[method])
    return dict(found)


@cache
def _called_anywhere() -> dict[str, set[str]]:
    return _called(
        "\n".join(file.read_text("utf-8") for top in PRODUCT for file in (ROOT / top).rglob("*.py"))
    )
