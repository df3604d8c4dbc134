"""Text for terminals: what models and users wrote is cleaned, colour is added only where it is wanted."""

import io
import re
import unicodedata
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

WIDTH = 80
_ORDER = re.compile(r"^([^\S\n]*)::(?=[a-z-]+(?: .*)?::)", re.MULTILINE)
"""How GitHub's runner knows an order in what a step prints."""


def clean(text: str) -> str:
    """Return text that is safe to print: control characters, escapes and bidi marks are shown as `?`.

    A line that a CI system would take for an order (`::add-mask::`) is none any more.

    >>> clean("a\\x1b[31mb\\tc"), clean("::error::x")
    ('a?[31mb c', ': :error::x')
    """
    if "::" in text:
        text = _ORDER.sub(r"\1: :", text)
    if text.isascii() and (text.isprintable() or text.replace("\n", "").isprintable()):
        return text  # most lines, of which there are hundreds of thousands for a long prompt
    return "".join(_safe(character) for character in text)


def _safe(character: str) -> str:
    if character in "\n":
        return character
    if character == "\t":
        return " "
    return "?" if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn") else character


def cut(text: str) -> str:
    """Cut a long text to its beginning, and state how much is missing.

    >>> cut("a short one")
    'a short one'
    """
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]} ... ({len(text) - _LONGEST} more characters)"


_LONGEST = 20_000


def shorten(text: str, width: int) -> str:
    """Return the text on one line, cut to `width` characters."""
    read = 20 * width + 1_000  # a text of megabytes is not cleaned for one line
    flat = " ".join(clean(text[:read]).split())
    whole = len(flat) <= width and len(text) <= read
    return flat if whole else flat[: width - 3].rstrip() + "..."


def diff_lines(before: str, after: str, indent: str = "    ", width: int = WIDTH) -> Iterator[Text]:
    """Return the lines `- before` and `+ after`, wrapped to the width."""
    for mark, text, style in (("-", before, "red"), ("+", after, "green")):
        for line in clean(cut(text)).strip("\n").splitlines():
            if line.strip():
                yield from _wrapped(f"{mark} ", line.strip(), indent, style, width)


def _wrapped(mark: str, line: str, indent: str, style: str, width: int) -> Iterator[Text]:
    import textwrap

    lead = indent + mark
    for wrapped in textwrap.wrap(line, width, initial_indent=lead, subsequent_indent=" " * len(lead)):
        yield Text(wrapped, style=style)


_COMMAND = re.compile(r"`agentmut\b[^`\n]+`\S*")
_GLUE = "\0"
"""Stands for a blank at which no line may break; no cleaned text holds it."""


def _glued(text: str, width: int) -> str:
    """Return the text with `_GLUE` for the blanks of each command that fits into a line."""
    return _COMMAND.sub(
        lambda found: found[0].replace(" ", _GLUE) if len(found[0]) <= width else found[0], text
    )


class Page:
    """Collects lines and tables, and renders them at a width that old terminals and logs can show."""

    def __init__(self, color: bool, width: int = WIDTH) -> None:
        self.width = width
        self._buffer = io.StringIO()
        self._console = Console(
            file=self._buffer,
            width=width,
            force_terminal=color,
            color_system="standard" if color else None,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )

    def add(self, content: object = "", style: str | None = None) -> None:
        """Add a line, a `Text` or a rich renderable. The caller cleans the cells of a table."""
        if isinstance(content, str):
            content = clean(cut(content))
        elif isinstance(content, Text):
            content.plain = clean(content.plain)  # a character for a character: styles stay where they are
        self._console.print(content, style=style)

    def line(self, text: str, style: str = "") -> None:
        """Add one line without wrapping it, for lists that are searched with other tools."""
        if style:
            self._console.print(Text(text, style=style), soft_wrap=True)
        else:
            self._buffer.write(f"{text}\n")

    def hang(self, text: str, indent: int = 2, style: str = "") -> None:
        """Add a text with every line indented, all lines after the first by two more.

        A command between backticks stays on one line, so that it can be copied.
        """
        import textwrap

        lead = " " * indent
        for line in textwrap.wrap(
            _glued(cut(text), self.width - indent - 2),
            self.width,
            initial_indent=lead,
            subsequent_indent=lead + "  ",
            break_on_hyphens=False,
            break_long_words=False,
        ):
            self.line(line.replace(_GLUE, " "), style)

    def title(self, text: str) -> None:
        """Add a section's heading."""
        self._console.print()
        self._console.print(Text(text, style="bold"))

    def text(self) -> str:
        """Return all added lines as text; no line ends in blanks."""
        return "\n".join(line.rstrip() for line in self._buffer.getvalue().splitlines()) + "\n"
