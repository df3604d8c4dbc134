"""Instructions in Markdown: AGENTS.md, CLAUDE.md and their kin, agents with front matter, and skills."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from agentmut.language import code_spans, splits
from agentmut.nouns import ToolSpec
from agentmut.project.formats.front_matter import FrontMatter, named_tools, split_front_matter
from agentmut.project.formats.settings import model_of
from agentmut.seams import ConfigFile, FoundAgent, WrittenText

SUFFIXES = (".md", ".mdc", ".markdown", ".txt")
_IMPORT = re.compile(r"(?<!\S)@(?P<path>[\w./~-]+\.\w+)")
_DEEPEST = 5
"""How deep imports within imports are followed, as Claude Code does."""
_DATA = frozenset({"name", "description", "tools", "allowed-tools", "model", "mode"})


class Instructions:
    """Text that is the prompt as it stands, such as AGENTS.md. Files that it imports by `@path` are documents."""

    name: ClassVar[str] = "instructions"
    general: ClassVar[bool] = True

    def recognises(self, file: ConfigFile) -> bool:
        """Return whether the file is Markdown or plain text."""
        return file.suffix in SUFFIXES

    def read(self, file: ConfigFile) -> tuple[FoundAgent, ...]:
        """Return the one agent, which has the text below front matter as its prompt."""
        found = split_front_matter(file.text)
        imported = tuple(imports(found.body, file.path.parent, file.path.parent))
        return (FoundAgent(name=file.path.stem, prompt=body_of(found), context=imported),)


class AgentMarkdown:
    """An agent whose front matter has its name, tools and model, and whose text is its prompt."""

    name: ClassVar[str] = "agent_markdown"
    general: ClassVar[bool] = False

    def recognises(self, file: ConfigFile) -> bool:
        """Return whether the file is Markdown whose front matter describes an agent."""
        if file.suffix not in SUFFIXES or file.path.name.upper() == "SKILL.MD":
            return False
        data = split_front_matter(file.text).data
        return "description" in data and bool(_DATA & data.keys())

    def read(self, file: ConfigFile) -> tuple[FoundAgent, ...]:
        """Return the agent. What the calling agent is told of it is a tool of its name."""
        found = split_front_matter(file.text)
        return (_described(found, str(found.data.get("name") or file.path.stem), "tools", file),)


class Skill:
    """A skill: `SKILL.md`, which is loaded by what its front matter says of it."""

    name: ClassVar[str] = "skill"
    general: ClassVar[bool] = False

    def recognises(self, file: ConfigFile) -> bool:
        """Return whether the file has the name of a skill."""
        return file.path.name.upper() == "SKILL.MD"

    def read(self, file: ConfigFile) -> tuple[FoundAgent, ...]:
        """Return the skill. What the agent is told before it loads the skill is a tool of its name."""
        found = split_front_matter(file.text)
        return (
            _described(found, str(found.data.get("name") or file.path.parent.name), "allowed-tools", file),
        )


def body_of(found: FrontMatter) -> tuple[WrittenText, ...]:
    """Return the text below front matter, where it stands in the file."""
    return (WrittenText(text=found.body, line=found.line, indent=0),)


def imports(text: str, folder: Path, root: Path, depth: int = 1) -> Iterator[str]:
    """Yield the files that a text imports by `@path`, as paths relative to `root`; what is in code is no import."""
    code = code_spans(text)
    for match in _IMPORT.finditer(text):
        path = (folder / match["path"]).resolve()
        if splits(code, match.start()) or not path.is_file() or not path.is_relative_to(root):
            continue
        yield path.relative_to(root).as_posix()
        if depth < _DEEPEST:
            yield from imports(path.read_text("utf-8", errors="replace"), path.parent, root, depth + 1)


def _described(found: FrontMatter, name: str, tools: str, file: ConfigFile) -> FoundAgent:
    data = found.data
    given = data.get("model")
    model = given[0] if isinstance(given, list) and given else given  # Copilot tries them in this order
    itself = ToolSpec(name=name, description=str(data.get("description") or ""))
    named = {tool.name: tool for tool in (itself, *named_tools(data.get(tools)))}
    return FoundAgent(
        name=name,
        prompt=body_of(found),
        named=tuple(named.values()),
        model=model_of(None if model == "inherit" else model, data, file.label),
        context=tuple(dict.fromkeys(imports(found.body, file.path.parent, file.path.parent))),
    )
