"""Front matter: where the data end that stand between two lines of `---` at the beginning of a text file."""

import re
from typing import NamedTuple

_FRONT = re.compile(r"\A\s*---[ \t]*\n(?P<data>.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


class FrontMatterText(NamedTuple):
    """The data as written, and the offset at which the text below begins."""

    data: str
    start: int


def front_matter(text: str) -> FrontMatterText:
    """Return the front matter of a text; without any, no data and the whole text.

    >>> front_matter("---\\nname: reviewer\\n---\\n\\nBe strict.")
    FrontMatterText(data='name: reviewer\\n', start=24)
    """
    found = _FRONT.match(text)
    start = found.end() if found else 0
    body = text[start:]
    return FrontMatterText(found["data"] if found else "", start + len(body) - len(body.lstrip("\n")))
