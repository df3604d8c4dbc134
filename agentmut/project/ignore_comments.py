"""Comments in a prompt that ask to ignore mutants. The agent gets the prompt without them."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from agentmut._base import ProjectError, nearest
from agentmut.language import Span, code_spans, splits
from agentmut.nouns import CutComment, IgnoreComment, Place
from agentmut.seams import class_of, unknown_name

_OPENING = re.compile(r"(?:<!--|\{#-?)\s*agentmut\b", re.IGNORECASE)
_COMMENT = re.compile(
    r"<!--(?P<html>\s*agentmut\b.*?)-->|\{#-?(?P<jinja>\s*agentmut\b.*?)-?#\}", re.DOTALL | re.IGNORECASE
)
_BODY = re.compile(r"\s*agentmut\s*:\s*ignore\b(?P<names>[^:]*):(?P<reason>.*)", re.DOTALL | re.IGNORECASE)
_HOW = (
    "Write `<!-- agentmut: ignore: why it does not matter -->`, or with an operator or class "
    "`<!-- agentmut: ignore prompt.negate: why -->` (in Jinja `{# ... #}`), on the line before or at the end "
    "of the instruction's line."
)


class ReadPrompt(NamedTuple):
    """A prompt without its comments to agentmut, and what these comments ask."""

    text: str
    cuts: tuple[CutComment, ...] = ()
    ignores: tuple[IgnoreComment, ...] = ()


class _CommentToCut(NamedTuple):
    """A comment, what to cut with it, and the `line` that it is about. Offsets count the text as written."""

    comment: re.Match[str]
    cut: tuple[int, int]
    line: tuple[int, int]


def read_comments(written: str, path: str, operators: Collection[str], first_line: int = 1) -> ReadPrompt:
    """Take the comments out of a prompt. Raise `ProjectError` with `path` and line for a malformed one.

    What stands in a code block or in backticks is code, and stays. A comment alone on its lines goes with
    its line break and speaks of the next line that is not blank; any other speaks of its own line.
    `first_line` is the number of the prompt's first line in that file.
    """
    if not _OPENING.search(written):
        return ReadPrompt(written)
    code = code_spans(written)
    found = list(_find(written, code))
    _refuse_unclosed(written, found, code, path, first_line)
    cuts: list[CutComment] = []
    pieces, shift, done = [], 0, 0
    for _, (start, end), _ in found:
        if end > (start := max(start, done)):
            pieces.append(written[done:start])
            cuts.append(CutComment(at=start - shift, text=written[start:end]))
            shift, done = shift + end - start, end
    text = "".join((*pieces, written[done:]))
    ignores = (_ignore(written, each, cuts, path, operators, first_line) for each in found)
    return ReadPrompt(text, tuple(cuts), tuple(ignores))


def _find(written: str, code: Sequence[Span]) -> Iterator[_CommentToCut]:
    comments = [found for found in _COMMENT.finditer(written) if not splits(code, found.start())]
    bare = _blanked(written, comments)
    for comment in comments:
        start = written.rfind("\n", 0, comment.start()) + 1
        end = _line_end(written, comment.end())
        if bare[start:end].strip():
            yield _CommentToCut(comment, _inside_line(bare, start, *comment.span()), (start, end))
        else:
            yield _CommentToCut(comment, (start, min(end + 1, len(written))), _next_line(bare, end))


def _blanked(written: str, comments: Iterable[re.Match[str]]) -> str:
    pieces: list[str] = []
    done = 0
    for comment in comments:
        pieces += written[done : comment.start()], re.sub(r"[^\n]", " ", comment[0])
        done = comment.end()
    return "".join((*pieces, written[done:]))


def _inside_line(bare: str, start: int, left: int, right: int) -> tuple[int, int]:
    """Return the span of the comment with the blanks before it, or after it if it begins its line."""
    before = bare[start:left]
    if before.strip():
        return start + len(before.rstrip()), right
    after = bare[right : _line_end(bare, right)]
    return left, right + len(after) - len(after.lstrip())


def _next_line(bare: str, start: int) -> tuple[int, int]:
    """Return the next line that is not silent; nothing at the end of the text."""
    said = re.compile(r"\S").search(bare, start)
    if not said:
        return len(bare), len(bare)
    return bare.rfind("\n", 0, said.start()) + 1, _line_end(bare, said.start())


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _ignore(
    written: str,
    found: _CommentToCut,
    cuts: Sequence[CutComment],
    path: str,
    known: Collection[str],
    first_line: int,
) -> IgnoreComment:
    comment = found.comment
    place = Place(path=path, line=_line(written, comment.start(), first_line))
    inner = comment["html"] if comment["html"] is not None else comment["jinja"]
    body = _BODY.fullmatch(inner)
    if not body or _OPENING.search(inner):
        raise _malformed(place, "this comment to agentmut cannot be read")
    reason = " ".join(body["reason"].split())
    if not reason:
        raise _malformed(place, "this comment gives no reason")
    names = tuple(re.split(r"[,\s]+", body["names"].strip())) if body["names"].strip() else ()
    if unknown := unknown_name(names, known):
        candidates = {*known, *map(class_of, known)}
        said = f"there is no operator or class {unknown!r}. {nearest(unknown, candidates)}"
        raise ProjectError(f"{_place_text(place)}: {said}")
    start, end = (_in_prompt(offset, cuts) for offset in found.line)
    return IgnoreComment(place=place, start=start, end=end, operators=names, reason=reason)


def _in_prompt(offset: int, cuts: Sequence[CutComment]) -> int:
    """Return the offset in the agent's prompt of an offset in the text as written."""
    shift = 0
    for cut in cuts:
        if cut.at + shift >= offset:
            break
        shift += min(len(cut.text), offset - cut.at - shift)
    return offset - shift


def _refuse_unclosed(
    written: str, found: Sequence[_CommentToCut], code: Sequence[Span], path: str, first_line: int
) -> None:
    begun = {each.comment.start() for each in found}
    inside = [each.comment.span() for each in found]
    for opening in _OPENING.finditer(written):
        at = opening.start()
        in_code = splits(code, at)
        if at not in begun and not in_code and not any(start < at < end for start, end in inside):
            place = Place(path=path, line=_line(written, at, first_line))
            raise _malformed(place, "this comment to agentmut is not closed")


def _line(written: str, offset: int, first_line: int) -> int:
    return written.count("\n", 0, offset) + first_line


def _malformed(place: Place, text: str) -> ProjectError:
    return ProjectError(f"{_place_text(place)}: {text}. {_HOW}")


def _place_text(place: Place) -> str:
    return f"{place.path}:{place.line}"
