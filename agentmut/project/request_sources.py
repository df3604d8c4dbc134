"""The files of the user that hold the texts of a saved request: once one of them changes, the request is old."""

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentmut.nouns import AgentConfig
from agentmut.project.parts import TEXT_SUFFIXES
from agentmut.project.places import FILE_NAME
from agentmut.project.project import Project
from agentmut.project.recorded_request import read_request_file

KEY = "sources"
"""The key of a saved request under which these files stand."""
LEAST_LINE = 12
"""Characters of a line from which on it names its file: shorter lines stand anywhere."""
LARGEST, MOST_FILES = 200_000, 2_000
"""Bytes of a file, and files of a project, that are searched."""
_FOREIGN = frozenset(
    {"node_modules", "venv", "env", "site-packages", "__pycache__", "dist", "build", "target"}
)
_PLACEHOLDER = re.compile(r"\{\w+\}")


def with_sources(request: str, config: AgentConfig, root: Path) -> str:
    """Return a saved request with the files under `root` that hold lines of its prompt or of its descriptions.

    `config` is the one of the request. For each file, `lines` counts the lines of the request that stand in the file,
    and `others` the lines of a text file that do not stand in the request.
    """
    found = {path: _counts(config, path) for path in _own_files(root)}
    held = {path.relative_to(root).as_posix(): counts for path, counts in found.items() if counts["lines"]}
    written = {**json.loads(request), KEY: held} if held else json.loads(request)
    return json.dumps(written, indent=2, ensure_ascii=False) + "\n"


def outdated_request(project: Project) -> str:
    """Return which files have changed since the project's saved request was saved, in a sentence; empty if none has."""
    request = saved_request(project)
    if request is None:
        return ""
    kept = _kept_sources(request)
    config = read_request_file(request).config if kept else AgentConfig()
    changed = [name for name, counts in kept.items() if _has_changed(config, project.root / name, counts)]
    if not changed:
        return ""
    what = f"{', '.join(changed)} {'has' if len(changed) == 1 else 'have'} changed"
    return (
        f"{what} since {request.name} was saved, so mutants are made of the earlier texts: `{refreshing(project)}` "
        "saves what the agent sends now"
    )


def saved_request(project: Project) -> Path | None:
    """Return the file of the saved request that the project takes its prompt or its tools from; None without one."""
    recorded = project.sources.recorded
    named = [recorded[part] for part in ("prompt", "tools") if recorded.get(part, "").endswith(".json")]
    return project.root / named[0] if named else None


def refreshing(project: Project) -> str:
    """Return the command that saves the project's request anew; empty without a saved request."""
    request = saved_request(project)
    if request is None:
        return ""
    here = Path.cwd()
    elsewhere = project.root.resolve() != here
    option = f" --project {shlex.quote(os.path.relpath(project.root, here))}" if elsewhere else ""
    return f"agentmut doctor --save-request {shlex.quote(os.path.relpath(request, here))}{option}"


def _kept_sources(request: Path) -> Mapping[str, Any]:
    try:
        kept = json.loads(request.read_text("utf-8-sig")).get(KEY)
    except (OSError, ValueError, AttributeError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _has_changed(config: AgentConfig, path: Path, counts: Any) -> bool:
    """Return whether a file has lost lines of the request, or has got lines that the request has not."""
    if not isinstance(counts, dict):
        return False
    today = _counts(config, path)
    lines, others = counts.get("lines", 0), counts.get("others", today["others"])
    return bool(today["lines"] < lines or today["others"] > others)


def _counts(config: AgentConfig, path: Path) -> dict[str, int]:
    text = _text(path)
    sent = "\n".join((config.prompt, *(tool.description for tool in config.tools)))
    wanted = {line for line in _lines(sent) if len(line) >= LEAST_LINE and not _PLACEHOLDER.search(line)}
    is_text = path.suffix in TEXT_SUFFIXES
    others = sum(line not in sent for line in _lines(text)) if is_text else 0
    return {"lines": sum(line in text for line in wanted), "others": others}


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines() if line.strip())


def _text(path: Path) -> str:
    """Return the text of a file; empty for one that is missing, large or no text."""
    try:
        return path.read_text("utf-8") if path.stat().st_size <= LARGEST else ""
    except (OSError, UnicodeDecodeError):
        return ""


def _own_files(root: Path) -> Iterator[Path]:
    """Yield the user's files: no hidden folder, no installed library, no project file and no saved request."""
    left = MOST_FILES
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in _FOREIGN)
        for name in sorted(files)[:left]:
            if name != FILE_NAME and not name.startswith(".") and not name.endswith(".json"):
                yield Path(folder, name)
        left -= len(files)
        if left <= 0:
            return
