"""Every public function of `agentmut.stats` is reached by the rest of agentmut, or by Python that the docs show.

Reached is what another room imports, what a ```python block of docs/*.md names, and what these use in turn.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
STATS = ROOT / "agentmut" / "stats"


def trees(*folders: Path) -> Iterator[tuple[Path, ast.Module]]:
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def names_in(node: ast.AST) -> set[str]:
    named = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return named | {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def imported_elsewhere() -> set[str]:
    return {
        alias.name
        for path, tree in trees(ROOT / "agentmut")
        if STATS not in path.parents
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("agentmut.stats")
        for alias in node.names
    }


def blocks() -> list[str]:
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")]
    return [block for page in pages for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL)]


def shown_in_docs() -> set[str]:
    imports = [line for block in blocks() for line in block.splitlines() if "agentmut.stats" in line]
    return set(re.findall(r"\w+", " ".join(imports)))


def unreached() -> set[str]:
    uses: dict[str, set[str]] = {}
    functions = set()
    for _, tree in trees(STATS):
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                uses.setdefault(node.name, set()).update(names_in(node))
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for name in (each.id for each in targets if isinstance(each, ast.Name)):
                    uses.setdefault(name, set()).update(names_in(node))
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                functions.add(node.name)
    reached, waiting = set[str](), [*imported_elsewhere(), *shown_in_docs()]
    while waiting:
        name = waiting.pop()
        if name in uses and name not in reached:
            reached.add(name)
            waiting += uses[name]
    return functions - reached


def idle_methods() -> set[str]:
    """Return the public methods that no code of agentmut, no template and no Python of the docs names."""
    methods = {
        method.name
        for _, tree in trees(STATS)
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for method in node.body
        if isinstance(method, ast.FunctionDef) and not method.name.startswith("_")
    }
    named = {
        node.attr
        for _, tree in trees(ROOT / "agentmut")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
    }
    templates = [path.read_text(encoding="utf-8") for path in (ROOT / "agentmut").rglob("*.html")]
    return methods - named - {word for text in (*templates, *blocks()) for word in re.findall(r"\w+", text)}


def test_no_statistic_lies_idle() -> None:
    assert unreached() == set()
    assert idle_methods() == set()
