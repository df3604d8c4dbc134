"""Command lines for the shell whose placeholders the shell itself never reads as code."""

import re
from collections.abc import Iterator

from agentmut._base import UsageError
from agentmut.adapters._shared.outside.placeholders import pieces

VARIABLE = "AGENTMUT_WORD_"
"""What the environment variables are called that hold the values."""
_TOKEN = re.compile(r"\\.|\$?\(|[)'\"]", re.DOTALL)

_HERE_DOCUMENT = re.compile(r"(?<!<)<<-?[ \t]*[\\'\"]?[A-Za-z_][^\n]*\n")


def shell_line(text: str, where: str) -> tuple[str, dict[str, str]]:
    r"""Return the line with variables in the place of placeholders, and the placeholder that each variable holds.

    A variable's value is no code to the shell, whatever stands in it, so nothing has to be escaped. It is to what is
    told to read its arguments as code: `eval`, `sh -c`, `python -c`, `ssh`; no placeholder belongs there. Raises
    `UsageError` for a placeholder in single quotes, where the shell knows no variables, and in a here-document, where
    quotes are words like others.

    >>> shell_line('node ask.js {input} > "{answer_file}"', "agent.command")[0]
    'node ask.js "${AGENTMUT_WORD_0}" > "${AGENTMUT_WORD_1}"'
    """
    held: dict[str, str] = {}
    return "".join(_parts(text, where, held)), held


def _parts(text: str, where: str, held: dict[str, str]) -> Iterator[str]:
    open_: list[str] = []
    before = ""
    for literal, name in pieces(text, where):
        yield literal
        before += literal
        _follow(literal, open_)
        if name is None:
            continue
        if _HERE_DOCUMENT.search(before):
            raise UsageError(
                f"{where}: {{{name}}} stands behind the beginning of a here-document (<<), which would get quotes "
                "around it; without {input} and {input_file} the input comes on stdin anyway"
            )
        quote = open_[-1] if open_ else ""
        if quote == "'":
            raise UsageError(
                f"{where}: leave out the single quotes around {{{name}}}; the value is one word anyway"
            )
        variable = f"{VARIABLE}{len(held)}"
        held[variable] = name
        yield f"${{{variable}}}" if quote == '"' else f'"${{{variable}}}"'


def _follow(text: str, open_: list[str]) -> None:
    """Keep track of the quotes and brackets that are open after `text`."""
    for token in _tokens(text, open_):
        inner = open_[-1] if open_ else ""
        if token == inner or (token == ")" and inner == "("):
            open_.pop()
        elif token[-1] == "(" and (inner != '"' or token[0] == "$"):
            open_.append("(")
        elif token in ("'", '"') and not (inner == '"' and token == "'"):
            open_.append(token)


def _tokens(text: str, open_: list[str]) -> Iterator[str]:
    """Yield the opening and closing tokens; inside single quotes, only the next single quote counts."""
    place = 0
    while place < len(text):
        if open_ and open_[-1] == "'":
            end = text.find("'", place)
            found, place = ("'", end + 1) if end >= 0 else ("", len(text))
        else:
            match = _TOKEN.search(text, place)
            found, place = (match[0], match.end()) if match else ("", len(text))
        if found and found[0] != "\\":
            yield found
