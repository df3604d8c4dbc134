"""Draw the house: the layers of the import contract, each room with the first sentence of its docstring.

`python -m tests.packaging.house` prints the picture that docs/design.md shows.
"""

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def layers() -> list[list[str]]:
    """Read the layers of the import contract, the highest first; each layer is a list of rooms."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    drawn = next(c["layers"] for c in contracts if c["type"] == "layers")
    return [layer.split(" | ") for layer in drawn]


def sentence(room: str) -> str:
    """Give the first line of a room's docstring."""
    folder = ROOT / "agentmut" / room
    source = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    text = ast.get_docstring(ast.parse(source.read_text())) or ""
    return text.splitlines()[0]


def picture() -> str:
    """Draw one line a room; rooms of one layer stand under each other, and a rule divides layers."""
    drawn = ["\n".join(f"{room:<14} {sentence(room)}" for room in layer) for layer in layers()]
    return "\n".join(drawn) + "\n"


if __name__ == "__main__":
    print(picture(), end="")
