"""The subject of a mutant: the rule or tool that it changes, and the words of its own diff."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from agentmut._base import canonical_json
from agentmut.language import parse, stem, stems, words
from agentmut.nouns import AgentConfig, Edit, Mutant, OperatorClass, ToolSpec

_NAME = re.compile(r"^/tools/\d+(?:/name)?$")
WINDOW = 8
"""Words of a rule within which all words of a tool's name have to stand, to name the tool."""


@dataclass(frozen=True)
class Meaning:
    """The part of a mutant's change that shows which assertions make sense."""

    rule: str
    """The rules of the prompt that it changes, as the original has them; empty where it changes none."""
    tools: frozenset[str]
    """The tools that it changes."""
    own_words: frozenset[str]
    """Words that only the mutant's config has, and names that it changes."""
    operator_class: OperatorClass
    prompt: str
    """The original's prompt, with its other rules."""
    tool_names: tuple[str, ...]
    """The names of the original's tools."""
    other_rules: tuple[str, ...] = ()
    """The instructions of the original's prompt that the mutant leaves as they are."""
    tool_texts: tuple[str, ...] = ()
    """Name and description of each of the original's tools."""
    options: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Parameters of tools that take one of several words, with these words."""
    documents: str = ""
    """The texts of the original's documents, in lower case."""
    added: tuple[str, ...] = ()
    """Texts that the mutant writes, and its whole prompt, in lower case."""

    @cached_property
    def stems(self) -> frozenset[str]:
        """Return the stems of the content words of the changed rules."""
        return stems(self.rule)

    @cached_property
    def subjects(self) -> frozenset[str]:
        """Return the tools that the mutant changes, and those that its changed rules name."""
        return self.tools | {tool for _, tool in tools_named(self.rule, self.tool_names)}

    def is_of_its_diff(self, texts: Iterable[str]) -> bool:
        """Return whether any of these texts has a word that only the mutant's own change brought in, or quotes it."""
        return any(not self.own_words.isdisjoint(_words(text)) or self._quotes(text) for text in texts)

    def _quotes(self, text: str) -> bool:
        """Return whether a text of several words stands in what the mutant writes, and nowhere in the original."""
        folded = text.casefold()
        if len(folded.split()) < 2 or folded in self.prompt.casefold() or folded in self.documents:
            return False
        return any(folded in written for written in self.added)


def meaning_of(mutant: Mutant, config: AgentConfig) -> Meaning:
    """Return what a mutant of this config is about."""
    rules = dict.fromkeys(rule for edit in mutant.edits for rule in _rules(edit, config))
    named = {config.tools[i].name for edit in mutant.edits if (i := _tool(edit, config)) is not None}
    known = _words(canonical_json(config.model_dump(mode="json")))
    added = {word for edit in mutant.edits for word in _words(_text(edit.after))} - known
    renamed = {
        name for edit in mutant.edits if _NAME.match(edit.pointer) and _renames(edit) for name in _names(edit)
    }
    known_tools = {tool.name for tool in config.tools}
    every = [one.text for one in parse(config.prompt, [tool.name for tool in config.tools]).instructions]
    return Meaning(
        rule="\n".join(rules),
        tools=frozenset(named)
        or frozenset({mutant.subject} & known_tools),  # a decoy stands beside its subject
        own_words=frozenset(added | renamed),
        operator_class=mutant.operator_class,
        prompt=config.prompt,
        tool_names=tuple(tool.name for tool in config.tools),
        other_rules=tuple(one for one in every if one not in rules),
        tool_texts=tuple(f"{tool.name} {tool.description}" for tool in config.tools),
        options=tuple(one for tool in config.tools for one in _options(tool)),
        documents="\n".join(one.text for one in config.context).casefold(),
        added=(
            *(_text(edit.after).casefold() for edit in mutant.edits),
            mutant.apply(config).prompt.casefold(),
        ),
    )


def tools_named(text: str, tools: Iterable[str]) -> list[tuple[int, str]]:
    """Return the tools that a text names and where, in the order of the text: by name, or by all words of the name.

    >>> tools_named("Always verify the identity of the customer before issuing a refund.",
    ...             ["issue_refund", "verify_identity", "look_up"])
    [(7, 'verify_identity'), (50, 'issue_refund')]
    """
    found = [(place, tool) for tool in tools if (place := _place(text, tool)) is not None]
    return sorted(found)


def _place(text: str, tool: str) -> int | None:
    literal = re.search(rf"(?<!\w){re.escape(tool)}(?!\w)", text)
    if literal:
        return literal.start()
    wanted = stems(tool)
    if len(wanted) < 2:
        return None
    said = [(word.start, stem(word.text)) for word in words(text)]
    for first, (start, one) in enumerate(said):
        if one in wanted and wanted <= {each for _, each in said[first : first + WINDOW]}:
            return start
    return None


def _rules(edit: Edit, config: AgentConfig) -> Iterator[str]:
    """Yield the instructions that an edit touches; without any, the text that it replaces."""
    if edit.pointer != "/prompt" or edit.span is None:
        return
    start, end = edit.span
    names = [tool.name for tool in config.tools]
    touched = [
        one.text for one in parse(config.prompt, names).instructions if one.start < end and start < one.end
    ]
    yield from touched or [_text(edit.before)]


def _tool(edit: Edit, config: AgentConfig) -> int | None:
    index = edit.index if edit.part == "tools" else None
    return index if index is not None and index < len(config.tools) and not edit.inserts_item else None


def _options(tool: ToolSpec) -> Iterator[tuple[str, tuple[str, ...]]]:
    fields = tool.parameters.get("properties")
    for name, schema in fields.items() if isinstance(fields, dict) else ():
        words_of = schema.get("enum") if isinstance(schema, dict) else None
        if isinstance(words_of, list):
            yield name, tuple(one for one in words_of if isinstance(one, str))


def _renames(edit: Edit) -> bool:
    return edit.pointer.endswith("/name") or (isinstance(edit.before, dict) and isinstance(edit.after, dict))


def _names(edit: Edit) -> Iterator[str]:
    """Yield the old name, if the edit changes it."""
    before, after = (
        value.get("name") if isinstance(value, dict) else value for value in (edit.before, edit.after)
    )
    if isinstance(before, str) and before != after:
        yield before.casefold()


def _words(text: str) -> frozenset[str]:
    """Return the words of a text; names with underscores both whole and in parts."""
    return frozenset((*_split(text), *re.findall(r"\w+", text.casefold())))


def _split(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def _text(value: object) -> str:
    return value if isinstance(value, str) else canonical_json(value) if value is not None else ""
