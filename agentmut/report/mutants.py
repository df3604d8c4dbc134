"""The list of mutants, before anything is run."""

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import JsonValue
from rich.text import Text

from agentmut.config import AgentConfig
from agentmut.engine.locate import changed_text, target_of
from agentmut.engine.session import Session
from agentmut.frozen import canonical_json
from agentmut.generate import Generation
from agentmut.mutant import Mutant
from agentmut.report.paint import Page, clean
from agentmut.tools import ToolSpec

_STYLES = {"-": "red", "+": "green", "@": "cyan"}


def render_mutants(session: Session, generation: Generation, color: bool = False) -> str:
    """Each mutant with its diff, then counts, then what was left out and why."""
    page = Page(color)
    for mutant in generation.mutants:
        target = target_of(mutant, session.suite.full, session.project)
        line = f":{target.line}" if target.line else ""
        page.add(Text(clean(f"{mutant.id}  {mutant.operator}  {target.path or ''}{line}"), style="bold"))
        page.add(Text(clean(f"  {mutant.description} ({mutant.intent})")))
        for row in unified(session.suite.full, mutant):
            page.add(Text(f"  {clean(row)}", style=_STYLES.get(row[:1], ""), overflow="fold"))
    page.title(f"{len(generation.mutants)} mutants")
    for name, count in sorted(Counter(mutant.operator for mutant in generation.mutants).items()):
        page.add(f"  {count:>4}  {name}")
    _left_out(page, generation)
    return page.text()


def as_document(session: Session, generation: Generation) -> dict[str, Any]:
    """The list as one JSON document."""
    return {
        "schema_version": 1,
        "mutants": [_as_dict(session, mutant) for mutant in generation.mutants],
        "dropped": [dropped._asdict() for dropped in generation.dropped],
        "empty": [empty._asdict() for empty in generation.empty],
    }


def unified(config: AgentConfig, mutant: Mutant) -> Iterator[str]:
    """The change as a unified diff of the texts concerned, with one line of context."""
    mutated = mutant.apply(config)
    for before, after in _texts(config, mutated):
        yield from _diff(before.splitlines(), after.splitlines())


def _diff(before: list[str], after: list[str]) -> Iterator[str]:
    """Like `difflib.unified_diff`, but the lines that both begin and end with are not compared by it: it is
    slow on long prompts, of which there is one for every mutant.
    """
    if before == after:
        return
    start = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(map(len, (before, after))),
    )
    most = min(len(before), len(after)) - start
    same = (a == b for a, b in zip(reversed(before), reversed(after), strict=False))
    end = min(most, next((i for i, equal in enumerate(same) if not equal), most))
    first = max(0, start - 1)
    old, new = (lines[first : len(lines) - max(0, end - 1)] for lines in (before, after))
    rows = list(difflib.unified_diff(old, new, lineterm="", n=1))[2:]
    yield from (_moved(row, first) for row in rows)


def _moved(row: str, lines: int) -> str:
    """The row, with a hunk's line numbers counted from the beginning of the text."""
    if not row.startswith("@@"):
        return row
    return re.sub(r"(?<=[-+])\d+", lambda number: str(int(number[0]) + lines), row)


def _texts(config: AgentConfig, mutated: AgentConfig) -> Iterator[tuple[str, str]]:
    """The parts that differ, as texts: prompt and documents as they are, the rest as one line an item."""
    yield config.prompt, mutated.prompt
    yield _tools(config, mutated), _tools(mutated, config)
    yield _lines([config.model.model_dump()]), _lines([mutated.model.model_dump()])
    yield _documents(config), _documents(mutated)
    yield _flow(config.orchestration), _flow(mutated.orchestration)


def _lines(values: Iterable[Any]) -> str:
    return "\n".join(canonical_json(value) for value in values)


def _flow(orchestration: Mapping[str, JsonValue]) -> str:
    """One line for each node, edge, and so on."""
    return "\n".join(line for key, value in orchestration.items() for line in _parts(key, value))


def _parts(key: str, value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (line for name, part in value.items() for line in _parts(f"{key}.{name}", part))
    elif isinstance(value, list) and any(isinstance(part, dict | list) for part in value):
        yield from (line for part in value for line in _parts(key, part))
    elif isinstance(value, list):
        yield f"{key}: {', '.join(map(str, value))}"
    else:
        yield f"{key}: {value}"


def _tools(config: AgentConfig, other: AgentConfig) -> str:
    """The tools as text; names only where both offer the same ones in another order."""
    moved = config.tools != other.tools and len(config.tools) == len(other.tools)
    if moved and all(tool in other.tools for tool in config.tools):
        return "\n".join(config.tool_names)
    return "\n".join(line for tool in config.tools for line in _tool_lines(tool))


def _tool_lines(tool: ToolSpec) -> Iterator[str]:
    yield f"{tool.name}: {tool.description}"
    properties = tool.parameters.get("properties")
    for name, schema in properties.items() if isinstance(properties, dict) else ():
        yield f"  {name}: {canonical_json(schema)}"


def _documents(config: AgentConfig) -> str:
    return "\n".join(f"[{document.name}]\n{document.text}" for document in config.context)


def _left_out(page: Page, generation: Generation) -> None:
    if generation.empty:
        page.title("Operators without mutants")
        for empty in generation.empty:
            page.add(f"  {empty.operator}: {clean(empty.reason)}")
    if generation.dropped:
        page.title("Left out")
        for dropped in generation.dropped:
            page.add(f"  {dropped.operator}: {clean(dropped.description)}: {clean(dropped.reason)}")


def _as_dict(session: Session, mutant: Mutant) -> dict[str, Any]:
    before, after = changed_text(mutant)
    return {
        "id": mutant.id,
        "operator": mutant.operator,
        "class": mutant.operator_class.value,
        "intent": mutant.intent.value,
        "target": target_of(mutant, session.suite.full, session.project).model_dump(),
        "description": mutant.description,
        "before": before,
        "after": after,
        "edits": [edit.model_dump(mode="json") for edit in mutant.edits],
        "diff": list(unified(session.suite.full, mutant)),
    }
