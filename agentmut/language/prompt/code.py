"""Find the code in a text by Markdown's marks: fenced blocks and backticks."""

import re

from agentmut.language.prompt.spans import Span, merged

_FENCED = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^\n]*(?:\n|\Z)(?:.*?^[ \t>]*(?P=fence)[`~]*[ \t]*\r?$|.*\Z)",
    re.MULTILINE | re.DOTALL,
)
_INLINE = re.compile(r"(?<!`)(?P<ticks>`{1,2})(?!`)[^\n]{1,500}?(?<!`)(?P=ticks)(?!`)")


def code_spans(text: str) -> tuple[Span, ...]:
    """Return the fenced blocks and inline code, sorted. A fence that never closes reaches to the end.

    >>> [text[start:end] for text in ["Say `x` and y."] for start, end in code_spans(text)]
    ['`x`']
    """
    fenced = [Span(*found.span()) for found in _FENCED.finditer(text)]
    inline = (Span(*found.span()) for found in _INLINE.finditer(text))
    return merged([*fenced, *inline])
