"""Changes of documents: other texts, another order, additional and removed documents."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, partial
from typing import NamedTuple

from agentmut.nouns import Document, Role
from agentmut.wire.rewriting.changes import TextChange, Texts, in_groups, replaced, standing, with_texts
from agentmut.wire.rewriting.hunks import Replacement, applied
from agentmut.wire.rewriting.patterns import Pattern

PARAGRAPH = 40
"""Characters of a paragraph that tell a part of one document from other texts."""
_BREAK = "\n\n"


class _Form(NamedTuple):
    """The form of a document inside a text."""

    name: str

    def of(self, document: Document) -> str:
        """Return a document in this form."""
        if self.name == "wrapped":
            return document.wrapped
        if self.name == "stripped":
            return document.text.strip()
        return document.text if self.name == "plain" else self.escaped(document.text)

    def escaped(self, text: str) -> str:
        """Return the text in this form: JSON text, for example, escapes some characters."""
        if not self.name.startswith("json"):
            return text
        return json.dumps(text, ensure_ascii=self.name == "json_ascii")[1:-1]


_FORMS = tuple(map(_Form, ("wrapped", "plain", "stripped", "json", "json_ascii")))
_READ = (Role.SYSTEM, Role.USER)
SHORTEST = 10
"""Characters of a document that is known without the tags around it."""
LONGEST = 20_000
"""Characters of a document that is looked for whatever its white space."""


class _FoundDocument(NamedTuple):
    text: int
    """Its index among the texts of the request."""
    start: int
    end: int
    form: _Form


class _Insertion(NamedTuple):
    document: Document
    neighbours: tuple[Document, ...]
    """Those before it, the nearest one first."""
    followers: tuple[Document, ...]


@dataclass(frozen=True)
class DocumentsChange:
    """The documents `before` that are `after`."""

    before: tuple[Document, ...]
    after: tuple[Document, ...]

    @property
    def is_any(self) -> bool:
        """Return whether there is a change."""
        return self.before != self.after

    def made_to(self, texts: Texts, *, is_own: bool = True) -> Texts:
        """Return the texts of a request with the change, where its documents are found.

        A new one with no neighbour there goes to the end of the instructions, if these are the agent's own.
        """
        if not self.is_any:
            return texts
        if self._is_reordering:
            return _reordered(texts, self.before, self.after)
        for insertion in self._insertions:
            texts = _inserted(texts, insertion, is_own=is_own)
        for rewritten in self._rewritings:
            texts = in_groups(_read(texts, rewritten), (Role.TOOL,), rewritten)
        return texts

    @cached_property
    def _rewritings(self) -> list[Callable[[str], str]]:
        return [
            *(change.made_to for change in self._changes),
            *(partial(_without, document=old) for old in self._removed),
        ]

    @cached_property
    def _is_reordering(self) -> bool:
        key = [sorted((d.name, d.text) for d in documents) for documents in (self.before, self.after)]
        return key[0] == key[1]

    @cached_property
    def _opcodes(self) -> Sequence[tuple[str, int, int, int, int]]:
        old, new = ([(d.name, d.text) for d in documents] for documents in (self.before, self.after))
        return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()

    @cached_property
    def _pairs(self) -> list[tuple[Document | None, Document | None, int]]:
        """Return the changed, removed (no second) and inserted (no first) documents, with their places in `after`."""
        return [pair for kind, *ends in self._opcodes if kind != "equal" for pair in self._paired(*ends)]

    def _paired(
        self, i: int, j: int, k: int, m: int
    ) -> Iterator[tuple[Document | None, Document | None, int]]:
        old, new = list(self.before[i:j]), list(range(k, m))
        for document in old:
            named = [at for at in new if self.after[at].name == document.name]
            successors = named or (new if len(old) == m - k else [])
            at = next(iter(successors), None)
            if at is None:
                yield document, None, k
            else:
                new.remove(at)
                yield document, self.after[at], at
        yield from ((None, self.after[at], at) for at in new)

    @cached_property
    def _changes(self) -> list["_DocumentChange"]:
        return [_DocumentChange(old, new) for old, new, _ in self._pairs if old and new]

    @cached_property
    def _removed(self) -> list[Document]:
        return [old for old, new, _ in self._pairs if old and not new]

    @cached_property
    def _insertions(self) -> list[_Insertion]:
        return [
            _Insertion(new, self.after[:at][::-1], self.after[at + 1 :])
            for old, new, at in self._pairs
            if new and not old
        ]


def _forms(document: Document) -> Sequence[_Form]:
    """Return the forms by which a document is looked for: a few words by themselves may be anybody's."""
    return _FORMS if len(document.text.strip()) >= SHORTEST else _FORMS[:1]


def _located(text: str, document: Document) -> tuple[int, int, _Form] | None:
    for form in _forms(document):
        sought = form.of(document)
        at = next(standing(text, sought), None)
        if at is not None:
            return at, at + len(sought), form
    for form in _forms(document)[:2] if len(document.text) <= LONGEST else ():
        place = next(Pattern("", form.of(document).strip(), "", loose=True).places(text), None)
        if place and text[place.start : place.end].strip():
            return place.start, place.end, form
    return None


@dataclass(frozen=True)
class _DocumentChange:
    old: Document
    new: Document

    def made_to(self, text: str) -> str:
        """Return the text with the changed document, as a whole or in the present parts of it."""
        for form in _forms(self.old):
            found = replaced(text, form.of(self.old), form.of(self.new))
            if found is not None:
                return found
        return next((found for change in self._changes if (found := change.made_to(text)) != text), text)

    @cached_property
    def _changes(self) -> list[TextChange]:
        forms = map(_Form, ("plain", "json", "json_ascii"))
        pairs = dict.fromkeys((form.escaped(self.old.text), form.escaped(self.new.text)) for form in forms)
        return [TextChange(*pair) for pair in pairs]


def _read(texts: Texts, change: Callable[[str], str | None]) -> Texts:
    """Apply a change to the instructions; if the text is not there, to the user's texts."""
    after = in_groups(texts, (Role.SYSTEM,), change)
    return in_groups(texts, (Role.USER,), change) if after == texts else after


def _without(text: str, document: Document) -> str:
    for form in _forms(document):
        sought = form.of(document)
        text = _cut(text, ((at, at + len(sought)) for at in standing(text, sought)), form)
    for form in _forms(document)[:2] if len(document.text) <= LONGEST else ():
        places = Pattern("", form.of(document).strip(), "", loose=True).places(text)
        text = _cut(text, ((start, end) for start, end, _ in places if text[start:end].strip()), form)
    parts = [part.strip() for part in document.text.split(_BREAK)]
    for part in parts:
        for escaped in dict.fromkeys(form.escaped(part) for form in _FORMS):
            text = (replaced(text, escaped, "") if len(part) >= PARAGRAPH else None) or text
    return text


def _cut(text: str, spans: Iterable[tuple[int, int]], form: _Form) -> str:
    """Return the text without these spans, each with the blank line after it or before it."""
    gap, kept, last = form.escaped(_BREAK), "", 0
    for start, end in spans:
        kept += text[last:start]
        last = end + len(gap) if text.startswith(gap, end) else end
        kept = kept if last > end else kept.removesuffix(gap)
    return kept + text[last:]


def _reordered(texts: Texts, before: Sequence[Document], after: Sequence[Document]) -> Texts:
    """Return the present documents in the order of `after`, in the same places."""
    after_all: list[str | None] = [None] * len(texts)
    readers = [index for index, text in enumerate(texts) if text.role in _READ]
    results = [[index] for index, text in enumerate(texts) if text.role is Role.TOOL]
    for group in (readers, *results):  # what one tool answers has an order of its own
        slots = sorted(_slots(texts, group, before))
        order = {(document.name, document.text): place for place, document in enumerate(after)}
        filling = sorted(slots, key=lambda slot: order[slot[1].name, slot[1].text])
        changes: dict[int, list[Replacement]] = {}
        for (found, _), (source, _) in zip(slots, filling, strict=True):
            content = texts[source.text].text[source.start : source.end]
            changes.setdefault(found.text, []).append(Replacement(found.start, found.end, content))
        for index, replacements in changes.items():
            after_all[index] = applied(texts[index].text, replacements)
    return with_texts(texts, after_all)


class _Slot(NamedTuple):
    found: _FoundDocument
    document: Document


def _slots(texts: Texts, group: Sequence[int], documents: Sequence[Document]) -> Iterator[_Slot]:
    for document in dict.fromkeys(documents):
        for index in group:
            place = _located(texts[index].text, document)
            if place:
                yield _Slot(_FoundDocument(index, *place), document)
                break


def _inserted(texts: Texts, insertion: _Insertion, *, is_own: bool) -> Texts:
    """Return the document after its neighbour or at the end of the instructions, and in results that contain it."""
    beside = partial(_beside, insertion)
    after = _read(texts, beside)
    if after == texts and is_own:
        last = max((i for i, text in enumerate(texts) if text.role is Role.SYSTEM), default=-1)
        added = f"{_BREAK}{insertion.document.wrapped}"
        after = with_texts(texts, [text.text + added if i == last else None for i, text in enumerate(texts)])
    return in_groups(after, (Role.TOOL,), beside)


def _beside(insertion: _Insertion, text: str) -> str | None:
    sides = ((insertion.neighbours, True), (insertion.followers, False))
    for document, is_behind in ((d, behind) for documents, behind in sides for d in documents):
        place = _located(text, document)
        if place:
            start, end, form = place
            gap, added = form.escaped(_BREAK), form.of(insertion.document)
            return (
                f"{text[:end]}{gap}{added}{text[end:]}"
                if is_behind
                else f"{text[:start]}{added}{gap}{text[start:]}"
            )
    return None
