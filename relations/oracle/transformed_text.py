"""Requests to transform a text: the part of the message that is this text."""

import re

from agentmut.language import Span

_VERBS = (
    r"(?:re)?format|clean(?:\s+up)?|tidy(?:\s+up)?|summari[sz]e|normali[sz]e|sort|alphabeti[sz]e|deduplicate|de-duplicate|"
    r"proofread|correct|fix|capitali[sz]e|lower-?case|upper-?case|indent|standardi[sz]e|redact|anonymi[sz]e|"
    r"remove\s+(?:the\s+|all\s+)?(?:duplicates?|typos|errors|blank lines|whitespace|spaces|punctuation)"
)
_ASKS = re.compile(
    rf"^\W*(?:(?:please|can you|could you|would you|kindly|i (?:want|need) you to)\s+)*(?P<verb>{_VERBS})\b",
    re.IGNORECASE,
)
_MARKED = (
    re.compile(r"```[\w-]*\n(?P<text>.+?)\n?```", re.DOTALL),
    re.compile(
        r"<(?P<tag>text|input|document|note|email|message)>\s*+"
        r"(?P<text>(?:(?!<(?P=tag)>).)+?)(?<!\s)\s*+</(?P=tag)>",
        re.DOTALL | re.IGNORECASE,
    ),
    re.compile(r"(?P<quote>\"\"\"|''')\s*+(?P<text>.+?)(?<!\s)\s*+(?P=quote)", re.DOTALL),
    re.compile(r"[\"“](?P<text>(?=[^\"“”]+?\s[^\"“”])[^\"“”]++)[\"”]\s*+(?:\.\s*+)?$"),
    re.compile(r":\s+(?P<text>\S.*\S)\s*$", re.DOTALL),
)
_MATERIAL = re.compile(
    r"\b(?:text|notes?|e-?mail|message|sentences?|paragraphs?|list|code|json|csv|data|table|entries|names|letter|article|"
    r"report|passage|document|transcript|words|lines|snippet|draft|grammar|spelling|punctuation)\b",
    re.IGNORECASE,
)
_VAGUE = re.compile(r"(?:re)?format|correct|fix|sort|clean", re.IGNORECASE)
"""Verbs that are also asked of other things than texts: "Correct my address: ...", "Fix this: the login is broken"."""


def transformed_text(request: str) -> Span | None:
    """Return the span of the text to be formatted, cleaned, corrected or summarised; None without one.

    It stands in a code block, a tag or quotation marks, or after a colon up to the end. Requests that a second time
    asks for more, as to shorten or to translate from one language, are none.

    >>> message = "Please clean up this note: call  bob , friday"
    >>> span = transformed_text(message)
    >>> message[span.start:span.end]
    'call  bob , friday'
    """
    asks = _ASKS.match(request)
    if not asks:
        return None
    found = (pattern.search(request) for pattern in _MARKED)
    match = next((match for match in found if match), None)
    if match is None:
        return None
    said = request[: match.start("text")]
    if _VAGUE.fullmatch(asks["verb"]) and not _MATERIAL.search(said):
        return None
    return Span(*match.span("text"))


def text_after(request: str, opening: str) -> Span | None:
    """Return what follows an opening that a user names, up to the end."""
    at = request.find(opening)
    if at < 0:
        return None
    rest = request[at + len(opening) :]
    text = rest.strip()
    start = at + len(opening) + len(rest) - len(rest.lstrip())
    return Span(start, start + len(text)) if text else None
