"""Changes of texts and settings of the config, applied to a request."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from agentmut._base import PLACEHOLDER
from agentmut.nouns import ModelConfig, ModelRequest, Role, Text, is_set
from agentmut.wire.rewriting.hunks import LEAST, Hunk, Replacement, applied, hunks
from agentmut.wire.rewriting.patterns import SEAM, Pattern, in_word

Texts = tuple[Text, ...]
LINE = 20
"""Characters of a line that tell one text from others."""
LONGEST_SEARCH = 20_000_000
"""Lines of the prompt times characters of a text: beyond, only whole lines tell that they have something in common."""


def with_texts(texts: Texts, after: Sequence[str | None]) -> Texts:
    """Return the texts of a request, with the texts of `after` in their places."""
    pairs = zip(texts, after, strict=True)
    return tuple(
        [
            old if new is None or new == old.text else Text(old.path, old.role, new, old.call_id, old.tool)
            for old, new in pairs
        ]
    )


def in_groups(texts: Texts, roles: Collection[Role], change: Callable[[str], str | None]) -> Texts:
    """Return the texts changed for some roles: all instructions together, other texts one by one.

    What is given to `change` may hold `SEAM`, and what it gives back has as many. A text that holds `SEAM` itself
    (the character NUL) is left as it is: a part of a prompt is not found in it.
    """
    after: list[str | None] = [None] * len(texts)
    for indexes in _groups(texts, roles):
        changed = change(SEAM.join(texts[index].text for index in indexes))
        if changed is not None:
            for index, text in zip(indexes, changed.split(SEAM), strict=True):
                after[index] = text
    return with_texts(texts, after)


def _groups(texts: Texts, roles: Collection[Role]) -> Iterator[list[int]]:
    """Yield the indexes of texts that are searched together: instructions may be split into blocks anywhere."""
    usable = [index for index, text in enumerate(texts) if SEAM not in text.text and text.role in roles]
    system = [index for index in usable if texts[index].role is Role.SYSTEM]
    yield from ([system] if system else [])
    yield from ([index] for index in usable if texts[index].role is not Role.SYSTEM)


def replaced(text: str, before: str, after: str) -> str | None:
    """Return the text with `after` for each whole-word `before`; None if there is none."""
    places = [Replacement(at, at + len(before), after) for at in standing(text, before)]
    return applied(text, places) if places else None


def standing(text: str, sought: str) -> Iterator[int]:
    """Yield where `sought` begins in the text, except inside words."""
    at = text.find(sought) if sought.strip() else -1
    while at >= 0:
        end = at + len(sought)
        if not (in_word(text, at) or in_word(text, end)):
            yield at
        at = text.find(sought, end)


@dataclass(frozen=True)
class TextChange:
    """A change of one whole text."""

    before: str
    after: str

    @cached_property
    def hunks(self) -> tuple[Hunk, ...]:
        """Return the places that differ."""
        return hunks(self.before, self.after)

    def whole(self, text: str) -> str | None:
        """Return the text with the whole change applied; None if the old text is not in it."""
        if text == self.before and text.strip():  # as with most agents, and in each of their requests
            return self.after
        for before, after in ((self.before, self.after), (self.before.strip(), self.after.strip())):
            found = replaced(text, before, after)
            if found is not None:
                return found
        return None

    def made_to(self, text: str) -> str:
        """Return the text with the whole change, or else with every hunk of it that is found."""
        whole = self.whole(text)
        if whole is not None:
            return whole
        return applied(text, [place for hunk in self.hunks for place in hunk.found(text)])


@dataclass(frozen=True)
class PromptChange:
    """A change of the prompt."""

    before: str
    after: str

    @property
    def is_any(self) -> bool:
        """Return whether there is a change, and a text to apply it to."""
        return self.before != self.after and bool(self.before.strip())

    def made_to(self, texts: Texts) -> Texts:
        """Return the texts of a request with the change, as far as its places are found.

        Instructions come first; where they have nothing of it, it is looked for in what the user says.
        """
        if not self.is_any:
            return texts
        if not self.after.strip():
            return self._emptied(texts)
        for role in (Role.SYSTEM, Role.USER):
            whole = self._change.whole if role is Role.SYSTEM or self._is_told(texts) else None
            wholly = [whole(text.text) if whole and text.role is role else None for text in texts]
            if any(text is not None for text in wholly):
                return with_texts(texts, wholly)
        return self._in_parts(texts)

    def _is_told(self, texts: Texts) -> bool:
        """Return whether the whole prompt can be told apart from a user's text, which may quote another prompt."""
        instructed = any(text.text.strip() for text in texts if text.role is Role.SYSTEM)
        return not instructed or len(self.before.strip()) >= LINE

    @cached_property
    def _change(self) -> TextChange:
        return TextChange(self.before, self.after)

    def _in_parts(self, texts: Texts) -> Texts:
        waiting = list(self._change.hunks)
        after = in_groups(texts, (Role.SYSTEM,), partial(_taken, waiting, LEAST))
        is_found = len(waiting) < len(self._change.hunks) or self._instructs(texts)
        if is_found or not self._is_told(texts):
            return after  # what the user says may quote it
        return in_groups(after, (Role.USER,), partial(_taken, waiting, LINE))

    def _instructs(self, texts: Texts) -> bool:
        """Return whether the instructions have any of the prompt."""
        return any(self.carried(text.text) for text in texts if text.role is Role.SYSTEM)

    def _emptied(self, texts: Texts) -> Texts:
        if self._instructs(texts):
            return with_texts(texts, ["" if text.role is Role.SYSTEM else None for text in texts])
        without = partial(self._without, wholly=self._is_told(texts))
        return with_texts(texts, [without(text.text) if text.role is Role.USER else None for text in texts])

    def is_of(self, texts: Texts) -> bool:
        """Return whether a request comes from the agent with this prompt, as far as the request shows."""
        spoken = (text.text for text in texts if text.role in (Role.SYSTEM, Role.USER))
        return not self.before.strip() or any(map(self.carried, spoken))

    def carried(self, text: str) -> bool:
        """Return whether a text has any of the prompt."""
        if next(standing(text, self.before.strip()), None) is not None:
            return True
        if not self._plain_lines.isdisjoint(line.strip() for line in text.splitlines()):
            return True
        if len(self._lines) * len(text) > LONGEST_SEARCH:
            return False  # seconds of work, for each request of another agent
        return any(next(line.places(text), None) for line in self._lines)

    def _without(self, text: str, *, wholly: bool) -> str:
        whole = self._change.whole(text) if wholly else None
        if whole is not None:
            return whole
        places = (place for line in self._lines for place in line.places(text))
        return applied(text, [Replacement(place.start, place.end, "") for place in places])

    @cached_property
    def _plain_lines(self) -> frozenset[str]:
        lines = (line.strip() for line in self.before.splitlines())
        return frozenset(line for line in lines if len("".join(line.split())) >= LINE)

    @cached_property
    def _lines(self) -> tuple[Pattern, ...]:
        """Return the parts of lines, without placeholders, by which a part of the prompt is known."""
        lines = self.before.splitlines()
        stretches = dict.fromkeys(max(PLACEHOLDER.split(line), key=len).strip() for line in lines)
        found = (Pattern("", stretch, "", loose=True) for stretch in stretches)
        return tuple(pattern for pattern in found if pattern.weight >= LINE)


def _taken(waiting: list[Hunk], least: int, text: str) -> str | None:
    """Apply the hunks that are found in a text, and remove them from the waiting list."""
    found = [(hunk, places) for hunk in waiting if (places := hunk.found(text, least))]
    for hunk, _ in found:
        waiting.remove(hunk)
    return applied(text, [place for _, places in found for place in places]) if found else None


@dataclass(frozen=True)
class SettingsChange:
    """The model `before` that is `after`."""

    before: ModelConfig
    after: ModelConfig

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return what differs. Who provides the model shows in no request."""
        fields = (name for name in ModelConfig.model_fields if name != "provider")
        return tuple(name for name in fields if getattr(self.before, name) != getattr(self.after, name))

    def due(self, request: ModelRequest) -> Iterator[tuple[str, Any]]:
        """Yield the settings of a request that change.

        A request to another model than the original's is another agent's and keeps its own; so does a setting
        that is neither the original's nor unset. What the original leaves to the agent is set, whatever it chose.
        """
        if self.before.name and request.model and request.model != self.before.name:
            return
        for name in self.names:
            found = getattr(request, "model" if name == "name" else name)
            before = getattr(self.before, name)
            if not (is_set(before) and is_set(found)) or found == before:
                yield name, getattr(self.after, name) or None if name == "name" else getattr(self.after, name)
