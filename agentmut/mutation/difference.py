"""Find what changed between two versions of an agent, and which mutants touch the change."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import accumulate

from pydantic import Field, JsonValue

from agentmut._base import Frozen
from agentmut.nouns import About, AgentConfig, Document, Edit, Mutant, ToolSpec

Lines = tuple[tuple[int, int], ...]
"""Lines of today's text that changed, each as its characters without the line break."""


class Changes(Frozen):
    """The parts of a config that differ from an earlier version."""

    since: str = ""
    """The version compared with, as the user named it."""
    note: str = ""
    """What counts as changed because it was not there, and so cannot be compared."""
    prompt: Lines | None = None
    """None where the prompt is as it was; no lines where only blank ones changed."""
    tools: frozenset[str] = frozenset()
    """Tools that are new or defined otherwise."""
    tool_list: bool = False
    """Whether other tools are offered, or in another order."""
    documents: Mapping[str, Lines] = Field(default_factory=dict)
    """Changed and new documents by name."""
    document_list: bool = False
    settings: frozenset[str] = frozenset()
    """Changed settings: `model/temperature`, `orchestration/max_turns`, `history`."""

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the changed parts in words."""
        lists = {"prompt": self.prompt is not None, "list of tools": self.tool_list}
        lists["list of documents"] = self.document_list
        whole = (name for name, changed in lists.items() if changed)
        tools = (f"tools/{name}" for name in sorted(self.tools))
        return (*whole, *tools, *sorted(self.documents), *sorted(self.settings))

    def summary(self) -> dict[str, JsonValue]:
        """Return the difference as JSON documents show it."""
        return {"since": self.since, "changed": list(self.parts), "note": self.note}

    @property
    def any(self) -> bool:
        """Return whether anything changed."""
        return bool(self.parts)


def changes(old: AgentConfig | None, new: AgentConfig, since: str = "", note: str = "") -> Changes:
    """Return the parts of `new` that differ from `old`; all parts where `old` is None."""
    before = AgentConfig() if old is None else old
    was = {tool.name: tool for tool in before.tools}
    documents = _documents_before(before, new)
    return Changes(
        since=since,
        note=note,
        prompt=None if before.prompt == new.prompt else tuple(changed_lines(before.prompt, new.prompt)),
        tools=frozenset(tool.name for tool in new.tools if was.get(tool.name) != tool),
        tool_list=before.tool_names != new.tool_names,
        documents={
            name: tuple(changed_lines(documents.get(name, ""), text))
            for name, text in _texts(new.context)
            if documents.get(name) != text
        },
        document_list=[d.name for d in before.context] != [d.name for d in new.context],
        settings=frozenset(_settings(before, new)),
    )


def _documents_before(old: AgentConfig, new: AgentConfig) -> dict[str, str]:
    """Return the earlier texts of today's documents. A renamed document has the text of its old name."""
    texts = dict(_texts(old.context))
    names = {document.name for document in new.context}
    gone = {text for name, text in texts.items() if name not in names}
    renamed = {name: text for name, text in _texts(new.context) if name not in texts and text in gone}
    return {**texts, **renamed}


def touches(changes: Changes, mutant: Mutant, config: AgentConfig) -> bool:
    """Return whether some edit of a mutant of `config` changes what has changed already, or is about that.

    An edit of a whole list (another order of the tools) touches a changed list, one within a text the changed
    lines under its span, and any other edit the tool, document or setting that it stands in. A document that is
    added touches a changed list; text that is about nothing around it touches no change.
    """
    parts = mutant.parts or (mutant,)
    return any(_touches(changes, place, part, config) for part in parts for place in part.places)


def changed_lines(before: str, after: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of new or changed lines in `after`, without line breaks; blank lines are left out.

    Where lines were only taken out, the nearest ones above and below count as changed: what was deleted may
    have been a condition of theirs.
    """
    old, new = ([line.rstrip() for line in text.split("\n")] for text in (before, after))
    spans = _spans(after)
    hit: set[int] = set()
    for start, end, deletion in _hunks(old, new):
        hit.update(_neighbours(new, start) if deletion else range(start, end))
    yield from (spans[number] for number in sorted(hit) if new[number])


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, bool]]:
    """Yield spans of changed lines of `new`; an empty span marks a deletion."""
    shared = min(len(old), len(new))
    head = next((i for i in range(shared) if old[i] != new[i]), shared)
    tail = next((i for i in range(shared - head) if old[-1 - i] != new[-1 - i]), shared - head)
    matcher = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail])
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag != "equal":
            gone = tag == "delete" and any(line for line in old[head + first : head + last])
            if gone or start < end:
                yield start + head, end + head, gone


def _neighbours(lines: Sequence[str], at: int) -> Iterator[int]:
    yield from [i for i in range(at - 1, -1, -1) if lines[i]][:1]
    yield from [i for i in range(at, len(lines)) if lines[i]][:1]


def _spans(text: str) -> list[tuple[int, int]]:
    lines = text.split("\n")
    starts = accumulate((len(line) + 1 for line in lines), initial=0)
    return [(start, start + len(line)) for start, line in zip(starts, lines, strict=False)]


def _texts(documents: Iterable[Document]) -> Iterator[tuple[str, str]]:
    return ((document.name, document.text) for document in documents)


def _settings(old: AgentConfig, new: AgentConfig) -> Iterator[str]:
    for field in type(new.model).model_fields:
        if getattr(old.model, field) != getattr(new.model, field):
            yield f"model/{field}"
    for key in {**old.orchestration, **new.orchestration}:
        if old.orchestration.get(key) != new.orchestration.get(key):
            yield f"orchestration/{key}"
    if old.history != new.history:
        yield "history"


def _touches(changes: Changes, edit: Edit | About, mutant: Mutant, config: AgentConfig) -> bool:
    part, *rest = edit.path
    if part == "prompt":
        return changes.prompt is not None and _in_lines(edit, changes.prompt)
    if part == "tools":
        return _touches_tools(changes, edit, mutant.subject, config.tools)
    if part == "context" and len(rest) == 1 and isinstance(edit, Edit) and edit.before is None:
        return changes.document_list
    if part == "context" and rest and rest[0].isdigit() and int(rest[0]) < len(config.context):
        name = config.context[int(rest[0])].name
        return name in changes.documents and _in_lines(edit, changes.documents[name])
    if part == "context":
        return changes.document_list or bool(changes.documents)
    wanted = "/".join((part, *rest[:1]))
    return any(setting == wanted or setting.startswith(f"{wanted}/") for setting in changes.settings)


def _touches_tools(changes: Changes, edit: Edit | About, subject: str, tools: Sequence[ToolSpec]) -> bool:
    _, *rest = edit.path
    if not rest:
        return changes.tool_list
    index = int(rest[0])
    if len(rest) == 1 and isinstance(edit, Edit) and edit.before is None:
        # A tool that is put in: the copy of another, as a rule.
        return changes.tool_list or subject in changes.tools
    return index < len(tools) and tools[index].name in changes.tools


def _in_lines(edit: Edit | About, lines: Lines) -> bool:
    if edit.span is None:
        return True
    if isinstance(edit, About) and edit.is_gap:
        return False
    start, end = edit.span
    if start == end:
        at = bisect_left(lines, start, key=_last)
        return at < len(lines) and lines[at][0] <= start
    at = bisect_right(lines, start, key=_last)
    return at < len(lines) and lines[at][0] < end


def _last(line: tuple[int, int]) -> int:
    return line[1]
