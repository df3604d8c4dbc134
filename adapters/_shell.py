"""Command lines for the shell whose placeholders are never read as code."""

import re
from collections.abc import Iterator

from agentmut.adapters._placeholders import pieces
from agentmut.errors import UsageError

VARIABLE = "AGENTMUT_WORD_"
"""What the environment variables are called that hold the values."""
_NEXT = re.compile(r"\\.|['\"]", re.DOTALL)


def shell_line(text: str, where: str) -> tuple[str, dict[str, str]]:
    r"""The line with variables in the place of placeholders, and the placeholder that each variable holds.

    A variable's value is no code to the shell, whatever stands in it, so nothing has to be escaped. Raises
    `UsageError` for a placeholder in single quotes, where the shell knows no variables.

    >>> shell_line('node ask.js {input} > "{answer_file}"', "agent.command")[0]
    'node ask.js "${AGENTMUT_WORD_0}" > "${AGENTMUT_WORD_1}"'
    """
    held: dict[str, str] = {}
    return "".join(_parts(text, where, held)), held


def _parts(text: str, where: str, held: dict[str, str]) -> Iterator[str]:
    quote = ""
    for literal, name in pieces(text, where):
        yield literal
        quote = _open_quote(literal, quote)
        if name is None:
            continue
        if quote == "'":
            raise UsageError(
                f"{where}: leave out the single quotes around {{{name}}}; the value is one word anyway"
            )
        variable = f"{VARIABLE}{len(held)}"
        held[variable] = name
        yield f"${{{variable}}}" if quote else f'"${{{variable}}}"'


def _open_quote(text: str, quote: str) -> str:
    """The quote that is open after `text`, where `quote` was open before it."""
    for found in _NEXT.findall(text):
        if found == quote:
            quote = ""
        elif not quote and found in ("'", '"'):
            quote = found
    return quote
