"""The change that a mutant makes, as a unified diff."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import accumulate

from pydantic import JsonValue

from agentmut._base import canonical_json, line_starts
from agentmut.nouns import AgentConfig, Edit, Mutant, Origin, ToolSpec, apply_edits
from agentmut.report.terminal.text_diff import edited_diff, renumbered, replacement, text_diff


def unified(origin: Origin, mutant: Mutant) -> Iterator[str]:
    """Yield the change as a unified diff of the texts concerned, with one line of context.

    Headers of the prompt have the lines of its file, where they are known; those of other parts, which are
    shown in a form of their own, name the part.
    """
    config = origin.config
    prompt, documents, rest = _by_text(mutant)
    mutated = apply_edits(config, rest) if rest else config
    yield from _headed(edited_diff(config.prompt, map(replacement, prompt)), "prompt", origin)
    for part, before, after in _texts(config, mutated) if rest else ():
        if before != after:
            yield from _headed(text_diff(before.splitlines(), after.splitlines()), part, origin)
    if documents:
        text, offsets = _documents(tuple((document.name, document.text) for document in config.context))
        replaced = (replacement(edit, offsets[int(edit.path[1])]) for edit in documents)
        yield from _headed(edited_diff(text, replaced), "context", origin)


def _headed(rows: Iterable[str], part: str, origin: Origin) -> Iterator[str]:
    for row in rows:
        if not row.startswith("@@"):
            yield row
        elif part != "prompt":
            yield f"@@ {part} @@"
        else:
            first = int(row.split("-")[1].split(",", maxsplit=1)[0].split(maxsplit=1)[0])
            below = _line_of(first, origin) - first
            yield renumbered(row, below, below)


def _line_of(line: int, origin: Origin) -> int:
    """Return the line of the file where a line of the prompt is written; the same number where that is not known."""
    prompt, sources = origin.config.prompt, origin.sources
    starts = line_starts(prompt)
    if sources.prompt_parts:
        return sources.part_place(prompt, starts[max(0, min(line, len(starts)) - 1)])[1] or line
    above = 0 if sources.prompt or not sources.prompt_line else sources.prompt_line - 1
    return sources.prompt_position(prompt, starts[max(0, min(line, len(starts)) - 1)]).line + above


def _by_text(mutant: Mutant) -> tuple[list[Edit], list[Edit], list[Edit]]:
    """Return the edits within the prompt, those within documents, and the others, which take the whole config.

    Beside an edit of a whole prompt or document, all of that part are among the others.
    """
    whole = {edit.path[0] for edit in mutant.edits if not _within_text(edit)}
    within: dict[str, list[Edit]] = {"prompt": [], "context": []}
    rest: list[Edit] = []
    for edit in mutant.edits:
        group = rest if edit.path[0] in whole else within[edit.path[0]]
        group.append(edit)
    return within["prompt"], within["context"], rest


def _within_text(edit: Edit) -> bool:
    in_document = edit.path[0] == "context" and edit.path[2:] == ("text",)
    return edit.span is not None and (edit.path == ("prompt",) or in_document)


def _texts(config: AgentConfig, mutated: AgentConfig) -> Iterator[tuple[str, str, str]]:
    """Yield the parts by name, before and after: prompt and documents as they are, the rest as one line an item."""
    yield "prompt", config.prompt, mutated.prompt
    yield "tools", _tools(config, mutated), _tools(mutated, config)
    yield "model", _settings(config), _settings(mutated)
    if config.context != mutated.context:
        before, after = (tuple((d.name, d.text) for d in one.context) for one in (config, mutated))
        yield "context", _documents(before)[0], _documents(after)[0]
    yield "orchestration", _flow(config.orchestration), _flow(mutated.orchestration)


def _settings(config: AgentConfig) -> str:
    """Return one line for each setting of the model, and one for the kept part of the history."""
    settings = config.model.model_dump(mode="json", exclude_defaults=True)
    history = {} if config.history is None else {"history": config.history.value}
    return "\n".join(f"{key}: {_value_text(value)}" for key, value in {**settings, **history}.items())


def _value_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else canonical_json(value)


def _flow(orchestration: Mapping[str, JsonValue]) -> str:
    """Return one line for each node, edge, and so on."""
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
    """Return the tools as text; names only where both offer the same ones in another order."""
    moved = config.tools != other.tools and len(config.tools) == len(other.tools)
    if moved and all(tool in other.tools for tool in config.tools):
        return "\n".join(config.tool_names)
    return "\n".join(line for tool in config.tools for line in _tool_lines(tool))


def _tool_lines(tool: ToolSpec) -> Iterator[str]:
    yield f"{tool.name}: {tool.description}"
    if tool.fault:
        yield f"  calls: {canonical_json(tool.fault.model_dump(mode='json', exclude_defaults=True))}"
    properties = tool.parameters.get("properties")
    for name, schema in properties.items() if isinstance(properties, dict) else ():
        yield f"  {name}: {canonical_json(schema)}"
    yield from _rest_of_schema(tool)


def _rest_of_schema(tool: ToolSpec) -> Iterator[str]:
    """Yield the parts of a schema that concern several parameters: required names and shared definitions."""
    for key, value in tool.parameters.items():
        if key in ("$defs", "definitions") and isinstance(value, dict):
            yield from (f"  {key}/{name}: {canonical_json(schema)}" for name, schema in value.items())
        elif key not in ("type", "properties", "title"):
            yield f"  {key}: {canonical_json(value)}"


@lru_cache(maxsize=8)  # asked for by every mutant of a document
def _documents(named: tuple[tuple[str, str], ...]) -> tuple[str, tuple[int, ...]]:
    """Return documents as one text, each under its name, and where each one's own text begins."""
    heads = [f"[{name}]\n" for name, _ in named]
    sizes = (len(head) + len(text) + 1 for head, (_, text) in zip(heads, named, strict=True))
    starts = accumulate(sizes, initial=0)
    offsets = tuple(start + len(head) for start, head in zip(starts, heads, strict=False))
    return "\n".join(head + text for head, (_, text) in zip(heads, named, strict=True)), offsets
