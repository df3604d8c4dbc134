"""Mutants that the user ignores, by id or by a comment in a text, and ignore entries that match nothing."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from agentmut.language import front_matter, parse
from agentmut.nouns import About, AgentConfig, Edit, IgnoreComment, Mutant, Origin
from agentmut.project import IgnoredMutant
from agentmut.seams import is_named


class IgnoreReasons(NamedTuple):
    """Reasons by mutant id, and a note for every entry or comment that no mutant falls under."""

    reasons: dict[str, str]
    stale: tuple[str, ...] = ()


def ignoring(
    mutants: Sequence[Mutant],
    entries: Iterable[IgnoredMutant],
    origin: Origin,
    operators: Sequence[str],
    *,
    narrowed: bool,
) -> IgnoreReasons:
    """Return what is ignored among the mutants that these operators made.

    `narrowed`: the command line left operators out, so that what fits nothing now may fit their mutants. Then
    ids are not called stale, and comments only where an operator they name was used.
    """
    reasons: dict[str, str] = {}
    stale: list[str] = []
    for entry in entries:
        hit = {m.id: entry.reason for m in mutants if m.id.startswith(entry.mutant)}
        reasons |= hit
        if not hit and not narrowed:
            stale.append(
                f"mutation.ignore: {entry.mutant} ({entry.reason}) names no mutant now; remove the entry"
            )
    for comment in origin.sources.ignores:
        hit = {mutant.id: comment.reason for mutant in _under(comment, mutants, origin)}
        reasons = hit | reasons
        if not hit and _could_hit(comment, operators, narrowed=narrowed):
            place = f"{comment.place.path}:{comment.place.line}"
            stale.append(f"{place}: this ignore comment matches no mutant ({comment.reason}); remove it")
    return IgnoreReasons(reasons, tuple(stale))


def _could_hit(comment: IgnoreComment, operators: Sequence[str], *, narrowed: bool) -> bool:
    if not narrowed:
        return True
    return any(is_named(operator, name) for operator in operators for name in comment.operators)


def _under(comment: IgnoreComment, mutants: Sequence[Mutant], origin: Origin) -> Iterator[Mutant]:
    """Yield the mutants that change only the comment's line and the instructions that reach into this line.

    Those of operators that the comment names need only begin there: so a dropped section can be ignored at its
    heading.
    """
    region = _region(comment, origin)
    for mutant in mutants if comment.start < comment.end else ():
        named = any(is_named(mutant.operator, name) for name in comment.operators)
        if comment.operators and not named:
            continue
        if all(region.holds(place, begun=named) for place in mutant.places):
            yield mutant


class _Region(NamedTuple):
    path: tuple[str, ...]
    """The place of the text in the config."""
    start: int
    words_end: int
    """Where the words end; the line break may follow."""
    end: int

    def holds(self, place: Edit | About, *, begun: bool) -> bool:
        """Return whether the place lies in the region; with `begun`, whether it begins in the region."""
        span = place.span
        if place.path != self.path or span is None or (isinstance(place, About) and place.is_gap):
            return False
        if span[0] == span[1]:  # an insertion; behind the line break it belongs to the next line
            return self.start <= span[0] <= self.words_end
        return self.start <= span[0] < self.end and (begun or span[1] <= self.end)


def _region(comment: IgnoreComment, origin: Origin) -> _Region:
    config = origin.config
    path, text, skipped = _text_of(comment, config)
    start, words_end, end = comment.start, comment.end, comment.end
    for instruction in parse(text[skipped:], config.tool_names).instructions:
        if instruction.start + skipped < comment.end and instruction.end + skipped > comment.start:
            start = min(start, instruction.removal.start + skipped)
            words_end = max(words_end, instruction.end + skipped)
            end = max(end, instruction.removal.end + skipped)
    return _Region(path, start, words_end, end)


def _text_of(comment: IgnoreComment, config: AgentConfig) -> tuple[tuple[str, ...], str, int]:
    """Return the path of the text that a comment stands in, the text, and how long its front matter is."""
    names = [document.name for document in config.context]
    if not comment.document:
        return ("prompt",), config.prompt, 0
    index = names.index(comment.document)
    text = config.context[index].text
    return ("context", str(index), "text"), text, front_matter(text).start
