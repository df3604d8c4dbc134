"""Find the text that no language operator may change: text for programs, and quotations to reproduce."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from agentmut.language.prompt.identifiers import identifier_spans
from agentmut.language.prompt.spans import Span, merged
from agentmut.language.prompt.templates import comment_spans, unclosed_spans

_INLINE = re.compile(
    r"""
      (?P<double_code>(?<!(?<!\\)\\)``[^\n]{1,500}?``)
    | (?P<code>(?<!(?<!\\)\\)`[^`\n]{1,500}`)
    | (?P<url>(?:\b(?:https?|ftp)://|\bmailto:|\bwww\.)[^\s<>"'`)\]}]*[^\s<>"'`)\]}.,;:!?])
    | (?P<email>(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+)
    | (?P<tag></?[A-Za-z][\w.:-]{0,64}(?:\s[^<>\n]{0,200})?/?>)
    | (?P<quoted>(?<![\w"])"(?=\S)(?:[^"\n]|\n(?![ \t\r]*\n)){1,400}"(?!\w))
    | (?P<curly>“[^”]{1,400}” | «[^»]{1,400}» | „[^“”]{1,400}[“”] | 「[^」]{1,400}」)
    | (?P<single>(?<![\w'])'(?=\S)(?:[^'\n]|(?<=\w)'(?=\w)){1,200}'(?!\w))
    | (?P<single_curly>(?<!\w)‘(?:[^‘’\n]|(?<=\w)’(?=\w)){1,200}’(?!\w))
    | (?P<printf>%\(\w{1,64}\)[sdifr] | %[sd]\b)
    | (?P<variable>\$(?:[A-Za-z_]\w{0,64}|(?=\{)))
    | (?P<slot>\[[A-Z][A-Z0-9_ ]{1,40}\])
    | (?P<identifier>(?<!\w)\w*[^\W_]_[^\W_]\w*)
    | (?P<path>(?<!\S)(?:\.{0,2}/)[\w./-]+)
    | (?P<file>(?<![\w./-])[\w./-]{1,200}\.(?:md|json|ya?ml|py|txt|csv|pdf|html|toml|xml)\b)
    """,
    re.VERBOSE | re.DOTALL,
)
_BRACE = re.compile(r"[{}]")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_JSON_START = re.compile(r"\{\s*[\"'{]")


def protected_spans(text: str, blocks: Iterable[Span], names: Iterable[str]) -> tuple[Span, ...]:
    """Return sorted, disjoint spans: the given blocks, inline code, links, placeholders, JSON, quotes, names."""
    inline = (Span(*match.span()) for match in _INLINE.finditer(text))
    open_ended = (*comment_spans(text), *unclosed_spans(text), *_braced(text))
    return merged([*blocks, *inline, *identifier_spans(text), *open_ended, *_named(text, names)])


def _braced(text: str) -> Iterator[Span]:
    """Yield balanced `{...}`: placeholders, templates and JSON objects. A brace without a partner is text."""
    opened: list[int] = []
    paragraph_ends = [match.start() for match in _BLANK_LINE.finditer(text)]
    for match in _BRACE.finditer(text):
        if match.group() == "{":
            opened.append(match.start())
        elif opened:
            span = Span(opened.pop(), match.end())
            # Stray braces far apart must not swallow the paragraphs between them.
            if _JSON_START.match(text, span.start) or not _any_between(paragraph_ends, span):
                yield span


def _any_between(offsets: Sequence[int], span: Span) -> bool:
    index = bisect_left(offsets, span.start)
    return index < len(offsets) and offsets[index] < span.end


def _named(text: str, names: Iterable[str]) -> Iterator[Span]:
    longest_first = sorted({name for name in names if name}, key=lambda name: (-len(name), name))
    if longest_first:
        pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
        yield from (Span(*match.span()) for match in pattern.finditer(text))
