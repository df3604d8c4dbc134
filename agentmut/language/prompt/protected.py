"""Find the text that no language operator may change: text for programs, and quotations to reproduce."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

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


_NAMES = re.compile(
    r"""
      (?P<dotted>(?<![\w./@-])[A-Za-z_]\w+(?:\.[a-z_]\w+)+)
    | (?P<at>(?<![\w@\#&])[@\#][A-Za-z_][\w-]*)
    | (?P<colons>(?<![\w:]):[A-Za-z_][\w+-]*:(?![\w:]))
    | (?P<underlined>(?<!\w)__[A-Z][A-Z0-9]*__(?!\w)(?=[ \t]*[.,;:)]|[ \t]*$))
    | (?P<double_brackets>\[\[[^\[\]\n]{1,80}\]\])
    | (?P<brackets>\[[a-z][\w -]{0,40}\](?!\())
    | (?P<value>(?<![\w.-])[A-Za-z_][\w.-]{0,64}(?:==?|:=)[^\s,<>"'`]{0,200}[^\s.,;:!?)*<>"'`])
    | (?P<call>(?<!\w)[A-Za-z_]\w{0,64}\((?!e?s\))[^()\n]{0,200}\))
    | (?P<flag>(?<!\S)(?:-[A-Za-z]|--[a-z][\w-]{1,40})(?![\w-])(?:[ =]\d[\w.]*)?)
    | (?P<query>\b(?:SELECT|INSERT\ INTO|UPDATE|DELETE\ FROM)\b[^\n.;]{0,300}?\b(?:FROM|VALUES|SET|WHERE|LIMIT)\b
        (?:[^\n.;]|\.(?=\S)){0,500})
    | (?P<settings>(?:^[ \t]*[a-z_][\w.-]{0,40}:[ \t]+[^\s*]{1,60}(?:[ \t][^\s]{1,60})?(?<![.!?])[ \t\r]*(?:\n|\Z)){2,})
    | (?P<output><(?P<tag>(?:expected_)?output)>.{0,2000}?</(?P=tag)>)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_TO_BE_SAID = re.compile(
    r"\b(?:reply|say|answer|respond|write|return|output|print)\b(?:[ \t]+[\w']+){0,4}?[ \t]+"
    r"(?:exactly|verbatim|literally|word for word)(?:[ \t]+\w+){0,2}:[ \t]*(?P<said>[^\s][^\n]*)",
    re.IGNORECASE,
)
_LABEL = r"[A-Z][A-Z_-]{1,40}"
_CHOICES = re.compile(rf"\b{_LABEL}(?:(?:, |/){_LABEL}){{0,40}}(?:,? or |/){_LABEL}\b")
_VERDICT = re.compile(
    r"\b(?i:answer|respond|return|output|say|reply|print|write)(?: (?i:with|only|just|exactly|either))* "
    rf"(?P<label>{_LABEL})\b(?=[.,;:]|\s*$| (?:if|when|otherwise|for|unless)\b)"
)


def identifier_spans(text: str) -> Iterator[Span]:
    """Return the names and values of programs, queries and settings, and answers given word for word."""
    for match in _NAMES.finditer(text):
        yield Span(*match.span())
    for match in _TO_BE_SAID.finditer(text):
        yield Span(*match.span("said"))
    for match in _CHOICES.finditer(text):
        yield Span(*match.span())
    for match in _VERDICT.finditer(text):
        yield Span(*match.span("label"))
