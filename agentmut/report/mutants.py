"""The list of mutants, before anything is run."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, TypeVar

from pydantic import JsonValue
from rich.padding import Padding

from agentmut.config import AgentConfig
from agentmut.engine.locate import changed_text, target_of
from agentmut.frozen import canonical_json
from agentmut.mutant import Edit, Mutant, Status, apply_edits
from agentmut.mutation.generate import DropKind, Dropped, Empty, Generation
from agentmut.mutation.operator_names import class_of
from agentmut.origin import Origin
from agentmut.report.paint import Page, clean, shorten
from agentmut.report.terminal import counted
from agentmut.report.text_diff import edited_diff, renumbered, replacement, text_diff
from agentmut.result import Target
from agentmut.text.position import line_starts
from agentmut.tools import ToolSpec

_STYLES = {"-": "red", "+": "green", "@": "cyan"}
_KINDS = {
    DropKind.IDENTICAL: "left the agent as it is",
    DropKind.DUPLICATE: "gave the same agent as another mutant",
    DropKind.NOT_EXPRESSIBLE: "cannot be carried out on this agent",
    DropKind.NOT_APPLICABLE: "did not fit the config",
}
_NO_HELP = ("it found no place in this config", "all its candidates were dropped")
Item = TypeVar("Item")


def render_mutants(
    origin: Origin,
    generation: Generation,
    *,
    color: bool = False,
    diffs: bool = False,
    verbose: bool = False,
    width: int | None = None,
) -> str:
    """A line for each mutant, by class, then counts, then what was left out and why.

    `diffs` adds each mutant's diff, `verbose` every candidate that was left out. Lines are cut to `width`.
    """
    page = Page(color)
    for name, mutants in _by(generation.mutants, lambda mutant: mutant.operator_class.value).items():
        ignored = sum(mutant.id in generation.ignored for mutant in mutants)
        page.title(f"{name} ({len(mutants)}{f', {ignored} of them ignored' if ignored else ''})")
        for mutant, row in zip(mutants, _rows(mutants, origin, generation.ignored), strict=True):
            page.line(shorten(row, width) if width else row, style="bold" if diffs else "")
            for line in unified(origin, mutant) if diffs else ():
                page.line(f"    {clean(line)}", style=_STYLES.get(line[:1], ""))
    _counts(page, generation)
    _ignored(page, generation)
    _without(page, generation, verbose=verbose)
    _left_out(page, generation, verbose=verbose)
    for note in generation.notes:
        page.add()
        page.add(f"Note: {clean(note)}.", style="yellow")
    return page.text().lstrip("\n")


def as_document(origin: Origin, generation: Generation) -> dict[str, Any]:
    """The list as one JSON document."""
    return {
        "schema_version": 1,
        "source": origin.file,
        "mutants": [_as_dict(origin, mutant, generation) for mutant in generation.mutants],
        "counts": {
            "mutants": len(generation.mutants),
            "unselected": generation.unselected,
            "ignored": len(generation.ignored),
            "classes": dict(sorted(_classes(generation.mutants).items())),
            "operators": dict(sorted(Counter(m.operator for m in generation.mutants).items())),
            "dropped": dict(sorted(Counter(dropped.kind.value for dropped in generation.dropped).items())),
        },
        "dropped": [_plain(dropped) for dropped in generation.dropped],
        "empty": [empty._asdict() for empty in generation.empty],
        "ignored": [
            {"id": mutant.id, "operator": mutant.operator, "reason": generation.ignored[mutant.id]}
            for mutant in generation.mutants
            if mutant.id in generation.ignored
        ],
        "notes": list(generation.notes),
    }


def _plain(dropped: Dropped) -> dict[str, str]:
    return {"operator": dropped.operator, "description": dropped.description} | {
        "reason": dropped.reason,
        "kind": dropped.kind.value,
    }


def unified(origin: Origin, mutant: Mutant) -> Iterator[str]:
    """The change as a unified diff of the texts concerned, with one line of context.

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
    """The line of the file where a line of the prompt is written; the same number where that is not known."""
    prompt, sources = origin.config.prompt, origin.sources
    starts = line_starts(prompt)
    above = 0 if sources.prompt or not sources.prompt_line else sources.prompt_line - 1
    return sources.prompt_position(prompt, starts[max(0, min(line, len(starts)) - 1)]).line + above


def _by_text(mutant: Mutant) -> tuple[list[Edit], list[Edit], list[Edit]]:
    """The edits within the prompt, those within documents, and the others, which take the whole config.

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
    """The parts by name, before and after: prompt and documents as they are, the rest as one line an item."""
    yield "prompt", config.prompt, mutated.prompt
    yield "tools", _tools(config, mutated), _tools(mutated, config)
    yield "model", _settings(config), _settings(mutated)
    if config.context != mutated.context:
        before, after = (tuple((d.name, d.text) for d in one.context) for one in (config, mutated))
        yield "context", _documents(before)[0], _documents(after)[0]
    yield "orchestration", _flow(config.orchestration), _flow(mutated.orchestration)


def _settings(config: AgentConfig) -> str:
    """One line for each setting of the model that is set, and for what is kept of the history."""
    settings = config.model.model_dump(mode="json", exclude_defaults=True)
    history = {} if config.history is None else {"history": config.history.value}
    return "\n".join(f"{key}: {_said(value)}" for key, value in {**settings, **history}.items())


def _said(value: JsonValue) -> str:
    return value if isinstance(value, str) else canonical_json(value)


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
    if tool.fault:
        yield f"  calls: {canonical_json(tool.fault.model_dump(mode='json', exclude_defaults=True))}"
    properties = tool.parameters.get("properties")
    for name, schema in properties.items() if isinstance(properties, dict) else ():
        yield f"  {name}: {canonical_json(schema)}"
    yield from _rest_of_schema(tool)


def _rest_of_schema(tool: ToolSpec) -> Iterator[str]:
    """What is said of the parameters together: which are required, and what several of them refer to."""
    for key, value in tool.parameters.items():
        if key in ("$defs", "definitions") and isinstance(value, dict):
            yield from (f"  {key}/{name}: {canonical_json(schema)}" for name, schema in value.items())
        elif key not in ("type", "properties", "title"):
            yield f"  {key}: {canonical_json(value)}"


@lru_cache(maxsize=8)  # asked for by every mutant of a document
def _documents(named: tuple[tuple[str, str], ...]) -> tuple[str, tuple[int, ...]]:
    """Documents as one text, each under its name, and where each one's own text begins."""
    heads = [f"[{name}]\n" for name, _ in named]
    sizes = (len(head) + len(text) + 1 for head, (_, text) in zip(heads, named, strict=True))
    starts = accumulate(sizes, initial=0)
    offsets = tuple(start + len(head) for start, head in zip(starts, heads, strict=False))
    return "\n".join(head + text for head, (_, text) in zip(heads, named, strict=True)), offsets


def _rows(mutants: Sequence[Mutant], origin: Origin, ignored: Collection[str]) -> Iterator[str]:
    """Id, operator, intent (or that it is ignored), place and description of each, in columns."""
    places = [clean(_shown(target_of(mutant, origin))) for mutant in mutants]
    operators = max(len(mutant.operator) for mutant in mutants)
    widest = max(map(len, places))
    for mutant, place in zip(mutants, places, strict=True):
        said = " ".join(clean(mutant.description).split())
        intent = Status.IGNORED.value if mutant.id in ignored else mutant.intent.value
        columns = f"{mutant.id}  {mutant.operator:<{operators}}  {intent:<8}  {place:<{widest}}"
        yield f"{columns}  {said}"


def _shown(target: Target) -> str:
    return f"{target.path or ''}:{target.line}" if target.line else target.path or "-"


def _counts(page: Page, generation: Generation) -> None:
    ignored = f", {len(generation.ignored)} of them ignored" if generation.ignored else ""
    others = f"; filters and caps leave out {generation.unselected} more" if generation.unselected else ""
    page.title(f"{counted(len(generation.mutants), 'mutant')}{ignored}{others}")
    classes = _classes(generation.mutants)
    for name, mutants in _by(generation.mutants, lambda mutant: mutant.operator).items():
        group = mutants[0].operator_class.value
        if group in classes:
            page.add(f"  {classes.pop(group):>4}  {group}")
        page.add(f"  {len(mutants):>8}  {name} ({mutants[0].intent.value})")


def _classes(mutants: Iterable[Mutant]) -> dict[str, int]:
    return dict(Counter(mutant.operator_class.value for mutant in mutants))


def _ignored(page: Page, generation: Generation) -> None:
    if not generation.ignored:
        return
    page.title(f"Ignored ({len(generation.ignored)} of them; not run)")
    for mutant in generation.mutants:
        if mutant.id in generation.ignored:
            reason = clean(generation.ignored[mutant.id])
            page.line(f"  {mutant.id}  {mutant.operator}: {reason}")


def _without(page: Page, generation: Generation, *, verbose: bool) -> None:
    """A line for each class, or with `verbose` for each reason with the names."""
    if not generation.empty:
        return
    page.title("Operators without mutants")
    if verbose:
        for reason, group in _by(generation.empty, _because).items():
            page.add(Padding(f"{clean(reason)}:", (0, 0, 0, 2)))
            page.add(Padding(", ".join(one.operator for one in group), (0, 0, 0, 4)))
        return
    asked = Counter(map(class_of, generation.operators))
    for name, group in _by(generation.empty, lambda one: class_of(one.operator)).items():
        page.add(Padding(f"{name} ({_part(len(group), asked[name])}): {_summary(group)}", (0, 0, 0, 2)))
    page.add("`--verbose` names them.")


def _part(some: int, whole: int) -> str:
    return f"{some} of {whole}" if some < whole else f"all {some}"


def _because(one: Empty) -> str:
    return one.reason.removeprefix(f"no mutants of {one.operator}, because ")


def _summary(group: Sequence[Empty]) -> str:
    """Why, each reason once; those that are no help come last."""
    reasons = _by(group, _because)
    return "; ".join(clean(reason) for reason in sorted(reasons, key=lambda reason: reason in _NO_HELP))


def _left_out(page: Page, generation: Generation, *, verbose: bool) -> None:
    if not generation.dropped:
        return
    page.title("Left out")
    for kind, group in _by(generation.dropped, lambda dropped: dropped.kind).items():
        page.add(f"  {len(group):>4}  {_KINDS[kind]}")
        for reason, dropped in _reasons(kind, group).items():
            if not verbose and reason:
                page.add(f"          {len(dropped)}: {clean(reason)}")
            for one in dropped if verbose else ():
                page.line(f"          {one.operator}: {clean(one.description)}: {clean(one.reason)}")
    if not verbose:
        page.add("`--verbose` lists each.")


def _reasons(kind: DropKind, group: Sequence[Dropped]) -> dict[str, list[Dropped]]:
    """The candidates by what stands in the way, where that is more than their kind says."""
    return _by(group, lambda one: one.reason if kind is DropKind.NOT_EXPRESSIBLE else "")


def _by(items: Iterable[Item], key: Callable[[Item], Any]) -> dict[Any, list[Item]]:
    groups: dict[Any, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _as_dict(origin: Origin, mutant: Mutant, generation: Generation) -> dict[str, Any]:
    before, after = changed_text(mutant)
    reason = generation.ignored.get(mutant.id)
    return {
        "id": mutant.id,
        "operator": mutant.operator,
        "class": mutant.operator_class.value,
        "intent": mutant.intent.value,
        "parts": [part.id for part in mutant.parts],
        "status": None if reason is None else Status.IGNORED.value,
        "reason": reason or "",
        "target": target_of(mutant, origin).model_dump(),
        "description": mutant.description,
        "before": before,
        "after": after,
        "edits": [edit.model_dump(mode="json") for edit in mutant.edits],
        "diff": list(unified(origin, mutant)),
    }
