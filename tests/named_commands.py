"""Whether a command that a page or a message names exists, with its options."""

import ast
import re
from collections.abc import Iterator

from agentmut.cli.reference import Verb, verbs

VERBS = {verb.words: verb for verb in verbs()}
OPTIONS = frozenset().union(*(verb.options for verb in VERBS.values()))
OF_AGENTMUT = ("--help", "--version", "--install-completion", "--show-completion")


def check_line(line: str, place: str) -> None:
    """Check a line in backticks that begins with `agentmut`; each part between ` -- ` is a command of its own."""
    for command in line.split(" -- "):
        if command.startswith("agentmut "):
            check_named(command.split()[1:], f"{place}: `{line}`")


def check_named(words: list[str], place: str) -> None:
    """Check the words after `agentmut`."""
    if words[0].startswith("-"):  # of agentmut itself
        assert words[0] in OF_AGENTMUT, place
        return
    fitting = verbs_named(words)
    assert fitting, f"{place}: no such verb"
    options = {word.partition("=")[0].strip(".,") for word in words if word.startswith("-") and word != "--"}
    assert options <= set().union(*(verb.options for verb in fitting)) | {"--help"}, place


def verbs_named(words: list[str]) -> list[Verb]:
    """Return the verbs that the words begin with, or may begin with."""
    fitting = [verb for named, verb in VERBS.items() if named in (tuple(words[:1]), tuple(words[:2]))]
    return fitting or [verb for named, verb in VERBS.items() if named[:1] == tuple(words[:1])]


def messages(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each string with a blank; of an f-string its text, with `{}` where values stand.

    >>> list(messages('say(f"run {name} again")'))
    [(1, 'run {} again')]
    """
    tree, inside = ast.parse(source), set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in ast.walk(node)} - {id(node)}
            parts = [str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values]
            yield node.lineno, "".join(parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.lineno, node.value


def commands_in(text: str) -> Iterator[str]:
    """Yield the commands of agentmut in backticks, without the values that a message puts into them.

    >>> list(commands_in("`agentmut show {}` explains; `agentmut {}` does not say which"))
    ['agentmut show']
    """
    for line in re.findall(r"`(agentmut [^`|]+)`", " ".join(text.split())):
        words = [word.partition("{")[0].rstrip(".,") for word in line.split()]
        if not line.startswith("agentmut {") and len(words) > 1:
            yield " ".join(filter(None, words))
