"""The files of the user that hold the texts of a saved request: once one of them changes, the request is old."""

import json
import os
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from agentmut.nouns import AgentConfig, PromptPart
from agentmut.project.parts import TEXT_SUFFIXES
from agentmut.project.places import FILE_NAME
from agentmut.project.project import Project
from agentmut.project.recorded_request import read_request_file
from agentmut.project.request_places import (
    KEY,
    LEAST_LINE,
    PLACEHOLDER,
    kept_sources,
    live_prompt_places,
    sentences_of,
    text_of,
)

MOST_FILES = 2_000
"""Files of a project that are searched."""
_FOREIGN = frozenset(
    {"node_modules", "venv", "env", "site-packages", "__pycache__", "dist", "build", "target"}
)


def with_sources(request: str, config: AgentConfig, root: Path) -> str:
    """Return a saved request with the files under `root` that hold lines of its prompt or of its descriptions.

    `config` is the one of the request. For each file, `lines` counts the lines of the request that stand in the file,
    `sentences` the sentences of lines that have several, and `others` the lines of a text file that do not stand in the
    request.
    """
    held = _held(config, root)
    written = {**json.loads(request), KEY: held} if held else json.loads(request)
    return json.dumps(written, indent=2, ensure_ascii=False) + "\n"


def prompt_parts_of(prompt: str, root: Path) -> tuple[PromptPart, ...]:
    """Return where the files under `root` hold a prompt that the built agent has; empty if no file holds it."""
    return live_prompt_places(prompt, _held(AgentConfig(prompt=prompt), root), root)


def _held(config: AgentConfig, root: Path) -> dict[str, dict[str, int]]:
    """Return the files that hold lines of a config, by their names under `root`, with what `with_sources` counts."""
    found = {path: _counts(config, path) for path in own_files(root)}
    return {
        path.relative_to(root).as_posix(): counts
        for path, counts in found.items()
        if counts["lines"] + counts["sentences"]
    }


def outdated_request(project: Project) -> str:
    """Return which files have changed since the project's saved request was saved, in a sentence; empty if none has."""
    request = saved_request(project)
    if request is None:
        return ""
    kept = kept_sources(request)
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


def _has_changed(config: AgentConfig, path: Path, counts: Any) -> bool:
    """Return whether a file has lost lines of the request, or has got lines that the request has not."""
    if not isinstance(counts, dict):
        return False
    today = _counts(config, path)
    others = counts.get("others", today["others"])
    return today["others"] > others or any(today[of] < counts.get(of, 0) for of in ("lines", "sentences"))


def _counts(config: AgentConfig, path: Path) -> dict[str, int]:
    text = text_of(path)
    sent = "\n".join((config.prompt, *(tool.description for tool in config.tools)))
    lines = _telling(_lines(sent))
    sentences = _telling(sentence for line in lines for sentence in sentences_of(line))
    is_text = path.suffix in TEXT_SUFFIXES
    others = sum(line not in sent for line in _lines(text)) if is_text else 0
    found = {"lines": sum(line in text for line in lines)}
    return {**found, "sentences": sum(one in text for one in sentences), "others": others}


def _telling(texts: Iterable[str]) -> set[str]:
    """Return the texts that are long enough to name their file, and that are the same in every run."""
    return {text for text in texts if len(text) >= LEAST_LINE and not PLACEHOLDER.search(text)}


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines() if line.strip())


def own_files(root: Path) -> Iterator[Path]:
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
