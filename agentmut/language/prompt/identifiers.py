"""Find names, values and fixed answers outside code marks: program text, and words to repeat exactly."""

import re
from collections.abc import Iterator

from agentmut.language.prompt.spans import Span

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
_CHOICES = re.compile(rf"\b{_LABEL}(?:(?:, |/){_LABEL})*(?:,? or |/){_LABEL}\b")
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
