"""Probes for edits of the prompt and of documents: they look for words in requests."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from agentmut._base import Passage, ends_in_common, flat, opening, passage_at, shown, stretch
from agentmut.nouns import AgentConfig, Edit, RequestShape
from agentmut.trial.witness.probes.anchors import LEAST_AFTER, Place, shared_passages
from agentmut.trial.witness.probes.probe import (
    GoneProbe,
    OrderProbe,
    Probe,
    Shapes,
    moved_path,
    shift,
    text_at,
    text_of,
)


def text_probe(edit: Edit, edits: Sequence[Edit], base: AgentConfig, mutated: AgentConfig) -> Probe:
    """Return the probe of an edit of the prompt or of the documents."""
    if edit.path == ("context",) and edit.after:
        return _DocumentOrder(_openings(edit.before), _openings(edit.after))
    if edit.part == "context" and edit.inserts_item and _copied(edit, base):
        return _RepeatedDocument(opening(text_of(edit.after)), flat(text_of(edit.after)))
    before, after = _passages(edit, edits, base, mutated)
    if before == after and edit.span is not None:
        return _WhiteSpaceProbe(*_stretches(edit, edits, base, mutated))
    if not after and before:
        return _TextGone(before, _known_texts(mutated))
    places = _places(edit, edits, base, mutated) if edit.span is not None else None
    lost = _lost(*places, mutated) if places else None
    return TextProbe(before, after, () if before else _known_texts(base), places, lost)


@dataclass(frozen=True)
class TextProbe(Probe):
    """Looks for a changed text and the text around it."""

    before: Passage
    after: Passage
    beside: Sequence[Passage] = ()
    """For a whole text that is added: the other texts of the config, one of which is sent with it."""
    places: tuple[Place, Place] | None = None
    """Where the text stands before and after the change; None where a whole text is another one."""
    lost: "_TextLost | None" = None
    """How a removal is recognised where too little of its surroundings stays the same."""

    def informed(self, originals: Shapes) -> "TextProbe | _TextLost":
        """Return a probe that needs no more surrounding text than all of the original's requests have."""
        found = shared_passages(*self.places, originals) if self.places else None
        if found:
            return replace(self, before=found[0], after=found[1])
        if self.lost and not self.carried(originals) and self.lost.is_always_there(originals):
            return self.lost
        return self

    def shows(self, shape: RequestShape) -> bool:
        """Return whether the request has the new text and no longer has the old text."""
        if self.before == self.after:  # only white space differs, or what changes is no text
            return False
        return shown(self.after, shape.text) and not self._unchanged(shape)

    def carries(self, shape: RequestShape) -> bool:
        """Return whether the request has the old text."""
        if self.beside:
            return any(shown(text, shape.text) for text in self.beside)
        return shown(self.before, shape.text)

    def carried(self, shapes: Shapes) -> bool:
        """Return whether some request has the old text; an addition has no old text."""
        return not self.before or super().carried(shapes)

    def _unchanged(self, shape: RequestShape) -> bool:
        if shown(self.before, " ".join(self.after)):  # an addition: what was there is still there
            return False
        return shown(self.before, shape.text)


@dataclass(frozen=True)
class _TextGone(GoneProbe):
    """The probe for a text that was removed completely: no request may contain it."""

    before: Passage
    remaining: Sequence[Passage]
    """What is left of the config: requests that show it had the text too."""

    def shows(self, shape: RequestShape) -> bool:
        """Return whether the request lacks the removed text and has a text that remains."""
        return not self.carries(shape) and any(shown(text, shape.text) for text in self.remaining)

    def carries(self, shape: RequestShape) -> bool:
        """Return whether the request has the text that is to go."""
        return shown(self.before, shape.text)


@dataclass(frozen=True)
class _TextLost(_TextGone):
    """The probe for a text that was removed between others: some request has to show the rest of the config."""

    def delivered(self, shapes: Shapes) -> bool:
        """Return whether no request has the text, and one has a text that remains."""
        return super().delivered(shapes) and any(map(self.shows, shapes))

    def is_always_there(self, shapes: Shapes) -> bool:
        """Return whether all requests with the rest of the config have the text too, and there are such requests."""
        with_rest = [shape for shape in shapes if any(shown(text, shape.text) for text in self.remaining)]
        return bool(with_rest) and all(map(self.carries, with_rest))


@dataclass(frozen=True)
class _WhiteSpaceProbe(Probe):
    """The probe for an edit of white space alone: it looks at the characters around the edit."""

    before: str
    after: str

    def shows(self, shape: RequestShape) -> bool:
        """Return whether the request has the new white space."""
        if self.before == self.after:
            return False
        return self.after in shape.text and (self.before in self.after or self.before not in shape.text)

    def carries(self, shape: RequestShape) -> bool:
        """Return whether the request has the old white space."""
        return self.before in shape.text


@dataclass(frozen=True)
class _RepeatedDocument(Probe):
    """The probe for a document that appears once more."""

    passage: Passage
    document: str

    def shows(self, shape: RequestShape) -> bool:
        """Return whether the request has the document more than once."""
        once = sum(self.document.count(fragment) for fragment in self.passage)
        return self._times(shape) >= 2 * once > 0

    def carries(self, shape: RequestShape) -> bool:
        """Return whether the request has the document."""
        return self._times(shape) > 0

    def _times(self, shape: RequestShape) -> int:
        return sum(flat(shape.text).count(fragment) for fragment in self.passage)


@dataclass(frozen=True)
class _DocumentOrder(OrderProbe):
    before: Sequence[Passage]
    after: Sequence[Passage]

    def shows(self, shape: RequestShape) -> bool:
        """Return whether the request has the documents in the new order, or another one of them alone."""
        moved = self._in_order(self.after, shape) and not self._in_order(self.before, shape)
        return moved or self.picks_otherwise(shape)

    def picked(self, shape: RequestShape) -> tuple[int, ...]:
        """Return which documents a request has, in its order."""
        text = flat(shape.text)
        places = [(text.find(passage[0]) if passage else -1, n) for n, passage in enumerate(self.before)]
        return tuple(n for place, n in sorted(places) if place >= 0)

    def carries(self, shape: RequestShape) -> bool:
        """Return whether the request has the documents in the old order."""
        return self._in_order(self.before, shape)

    def carried(self, shapes: Shapes) -> bool:
        """Return whether the requests of an original trial have any text."""
        return any(shape.text for shape in shapes)

    @staticmethod
    def _in_order(passages: Sequence[Passage], shape: RequestShape) -> bool:
        """Return whether the present documents keep their order; scenarios may carry further documents."""
        text = flat(shape.text)
        places = [place for passage in passages if passage and (place := text.find(passage[0])) >= 0]
        return len(places) > 1 and all(a < b for a, b in pairwise(places))


def _passages(
    edit: Edit, edits: Sequence[Edit], base: AgentConfig, mutated: AgentConfig
) -> tuple[Passage, Passage]:
    if edit.span is not None:
        before, after = _places(edit, edits, base, mutated)
        return before.passage(), after.passage()
    if isinstance(edit.before, str) and isinstance(edit.after, str) and edit.after:
        return _difference(edit.before, edit.after)
    return opening(text_of(edit.before)), opening(text_of(edit.after))


def _lost(before: Place, after: Place, mutated: AgentConfig) -> _TextLost | None:
    """Return the probe of a removal by the removed text alone; None where little is removed, or it stands elsewhere."""
    removed = before.passage(0, 0)
    gone = after.start == after.end and len("".join(removed)) >= LEAST_AFTER
    return _TextLost(removed, _known_texts(mutated)) if gone and not shown(removed, after.text) else None


def _places(
    edit: Edit, edits: Sequence[Edit], base: AgentConfig, mutated: AgentConfig
) -> tuple[Place, Place]:
    """Return the place of an edit in its text, before and after the edit."""
    assert edit.span is not None
    start, end = edit.span
    moved = start + shift(edit, edits)
    text = text_at(mutated, moved_path(edit, edits))
    return Place(text_at(base, edit.path), start, end), Place(text, moved, moved + len(str(edit.after)))


def _stretches(edit: Edit, edits: Sequence[Edit], base: AgentConfig, mutated: AgentConfig) -> tuple[str, str]:
    """Return the text before and after an edit, with context up to the next placeholder."""
    assert edit.span is not None
    start, end = edit.span
    moved = start + shift(edit, edits)
    return (
        stretch(text_at(base, edit.path), start, end),
        stretch(text_at(mutated, edit.path), moved, moved + len(str(edit.after))),
    )


def _difference(before: str, after: str) -> tuple[Passage, Passage]:
    """Return the places where two whole texts differ; their beginnings may be equal."""
    head, tail = ends_in_common(before, after)
    return passage_at(before, head, len(before) - tail), passage_at(after, head, len(after) - tail)


def _copied(edit: Edit, base: AgentConfig) -> bool:
    added = flat(text_of(edit.after))
    return bool(added) and any(flat(document.text) == added for document in base.context)


def _known_texts(config: AgentConfig) -> list[Passage]:
    return list(filter(None, map(opening, (config.prompt, *(document.text for document in config.context)))))


def _openings(documents: Any) -> list[Passage]:
    return [opening(text_of(document)) for document in documents]
