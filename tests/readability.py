"""Find banned constructions in messages, help, docstrings and pages: `python -m tests.readability`, in `make lint`.

The list holds constructions that readers stumbled over. Each has the reason, which is printed with what is found.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCES = ("agentmut", "adapters", "operators", "relations")
PAGES = ("docs/*.md", "README.md", "CONTRIBUTING.md")
HEAD = r"(?:^|(?<=[.;:] ))"
BANNED = {
    "a pronoun without its noun": rf"{HEAD}(?:Those (?:of|that|whose|with|some)|None of them)\b",
    "an ellipsis that hides its noun": rf"{HEAD}(?:Of several, theirs|The same for)\b",
    "'leave' for the end of a program; write 'exit'": r"\b[Aa]nd leaves?\.|\bLeave with exit code\b",
    "a riddle for 'the result'": r"\b(?:[Ww]hat is told\b|[Ww]hat has come of\b)",
    "another word for 'no coverage'": r"\bunreached\b|\"not reached\"",
    "the JSON's spelling of a status; write it with a blank": r"(?<!`)\b(?:no_coverage|not_applied|not_drawn)\b(?!=)",
    "a possessive without a noun": rf"{HEAD}(?:Theirs|Its own|Of (?:its|their) own)\b",
    "'besides' or 'as it is' for a noun": rf"{HEAD}(?:Besides,|As (?:it|they) (?:is|are)[,.])",
    "'none' for the wrong kind; name the thing": r"\b(?:what|that|which) (?:is|are) none(?=[.,;:)]| and\b| or\b)",
    "'theirs' where the noun is missing": r"\b(?:lack|share|have|because|than) theirs\b",
}
MOST_WORDS = 34
"""Words of a page's longest sentence."""


class Finding(NamedTuple):
    """A banned construction, and where it stands."""

    place: str
    reason: str
    text: str


def findings(root: Path = ROOT) -> Iterator[Finding]:
    """Yield the banned constructions of all sources and pages."""
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*.py")):
            if not any(part.is_symlink() for part in (path, *path.parents)):
                yield from found_in_source(path.read_text(encoding="utf-8"), str(path.relative_to(root)))
    for pattern in PAGES:
        for path in sorted(root.glob(pattern)):
            text, name = path.read_text(encoding="utf-8"), str(path.relative_to(root))
            yield from found_in_page(text, name)
            yield from too_long(text, name)


def too_long(page: str, name: str) -> Iterator[Finding]:
    """Yield the page's sentences of more than `MOST_WORDS` words."""
    for sentence in sentences(page):
        if len(re.findall(r"[\w'%$.-]+", sentence)) > MOST_WORDS:
            yield Finding(name, f"a sentence of more than {MOST_WORDS} words", sentence[:60])


def sentences(page: str) -> Iterator[str]:
    """Yield the sentences of a page's paragraphs and list items, without tables. Code is one word, a list of it, too.

    >>> list(sentences("# Head\\n\\nOne `a b c` is. Two\\nare.\\n\\n- Three"))
    ['One CODE is.', 'Two are.', '- Three']
    """
    prose = re.sub(r"^ *```.*?^ *```|<!--.*?-->", "\n\n", page, flags=re.DOTALL | re.MULTILINE)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*|]|\d+\.) )", prose):
        if not block.lstrip().startswith(("|", "#")):
            text = re.sub(r"`[^`]*`", "CODE", " ".join(block.split()))
            text = re.sub(r"CODE(?:, CODE)+", "CODE", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text))
            yield from filter(None, re.split(r"(?<=[.?!])(?<!e\.g\.)(?<!i\.e\.)[*_)\"]* ", text))


def found_in_source(source: str, name: str) -> Iterator[Finding]:
    """Yield what stands in string literals: docstrings, messages and the help of options."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield from found_in_text(node.value, f"{name}:{node.lineno}")


def found_in_page(page: str, name: str) -> Iterator[Finding]:
    """Yield what stands in a page, without its code blocks, whose lines are kept so that the number is right."""
    prose = re.sub(
        r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), page, flags=re.DOTALL | re.MULTILINE
    )
    for number, line in enumerate(prose.splitlines(), 1):
        yield from found_in_text(line, f"{name}:{number}")


def found_in_text(text: str, place: str) -> Iterator[Finding]:
    """Yield what one text has of the list."""
    for reason, pattern in BANNED.items():
        for found in re.finditer(pattern, text):
            yield Finding(place, reason, text[found.start() : found.start() + 60].replace("\n", " "))


def main() -> int:
    """Print what is found; return 1 if there is anything."""
    found = list(findings())
    for each in found:
        print(f"{each.place}: {each.reason}: {each.text!r}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
