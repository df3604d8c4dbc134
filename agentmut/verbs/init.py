"""`agentmut init`: a small project that runs as it is, to be changed into the user's own."""

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from agentmut.errors import UsageError, nearest
from agentmut.files.layout import FOLDER

WITHOUT_MODEL = frozenset({"python", "mcp"})
"""Starters that ask no model, so that they need no simulator."""
DISGUISE = ".txt"
"""Python templates carry this suffix, so that no tool takes them for modules of agentmut."""


def frameworks() -> tuple[str, ...]:
    """The frameworks there is a starter for, sorted."""
    return tuple(sorted(folder.name for folder in _templates().iterdir() if folder.is_dir()))


def starter_name(framework: str) -> str:
    """The name of a starter, also as the extra spells it (openai-agents) or the framework itself (CrewAI)."""
    name = framework.lower().replace("-", "_")
    if name not in frameworks():
        raise UsageError(f"there is no starter for {framework!r}. {nearest(name, frameworks())}")
    return name


def write_starter(target: Path, force: bool = False, framework: str = "python") -> tuple[Path, ...]:
    """Write a commented project file, a prompt, two scenarios and an agent stub; the files written.

    Files that exist are never overwritten unless `force`: `UsageError` names them, and then nothing is
    written at all. A `.gitignore` with the folder of results comes along where there is none: an existing one stays as
    it is.
    """
    texts = {target / name: text for name, text in _starter_files(_templates() / starter_name(framework))}
    if not (target / ".gitignore").exists():
        texts[target / ".gitignore"] = f"{FOLDER}/\n"
    existing = [str(path.relative_to(target)) for path in texts if path.exists()]
    if existing and not force:
        raise UsageError(
            f"{target} already has {', '.join(existing)}; nothing was written. "
            "Use --force to overwrite, or another directory."
        )
    for path, text in texts.items():
        _write(path, text)
    return tuple(texts)


def _templates() -> Traversable:
    return files("agentmut") / "templates" / "init"


def _starter_files(folder: Traversable, inside: str = "") -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        name = f"{inside}{entry.name}"
        if entry.is_dir():
            yield from _starter_files(entry, f"{name}/")
        else:
            yield name.removesuffix(DISGUISE), entry.read_text(encoding="utf-8")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}. Choose a directory you may write to."
        ) from error
