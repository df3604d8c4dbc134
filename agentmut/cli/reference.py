"""The tree of commands, and docs/command-line.md, which is made from it.

`make docs-cli`, or `python -m agentmut.cli.reference > docs/command-line.md`.
"""

import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

INTRODUCTION = """\
# Command line

All verbs and options. This page is made by `make docs-cli` from the commands' own help; do not edit it.

Exit codes:

- 0: the command finished; of a verdict: PASS.
- 1: the verdict is FAIL.
- 2: something is wrong with the command line or a file.
- 3: a budget stopped the run, or the evidence is inconclusive.
- 4: the command could not be carried out.
- 130: the command was interrupted, or its question was answered with no.

## Completion

`agentmut --install-completion` teaches the shell (bash, zsh, fish, PowerShell) to complete verbs, options, and names:
ids of runs and mutants, scenarios, baselines, operators, relations and classes. `agentmut --show-completion` prints
the script instead. Names are read from the files of the project in this folder, or the one that `--project` has named
before; no agent is imported for it.
"""


class Verb(NamedTuple):
    """A command that can be given, with the words that name it."""

    words: tuple[str, ...]
    command: Any

    @property
    def name(self) -> str:
        """Return the command as the user types it."""
        return " ".join(("agentmut", *self.words))

    @property
    def help(self) -> str:
        """Return the command's help without indentation."""
        return cleandoc(self.command.help or "")

    @property
    def example(self) -> str:
        """Return the command line of its example; empty if it has none."""
        return self.help.partition("Example: ")[2].partition("\n")[0].strip()

    @property
    def options(self) -> set[str]:
        """Return all names of its options."""
        parameters = self.command.get_params(self.command.context_class(self.command))
        named = (name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts))
        return {name for name in named if name.startswith("-")}


def verbs() -> Iterator[Verb]:
    """Yield every command that can be given, in the order of `agentmut --help`."""
    import typer

    from agentmut.cli.entry import app

    root: Any = typer.main.get_command(app)
    context = root.context_class(root)
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        inner = getattr(command, "commands", None)
        if inner is None:
            yield Verb((name,), command)
        for below, found in (inner or {}).items():
            yield Verb((name, below), found)


def page() -> str:
    """Return the text of docs/command-line.md."""
    return "\n".join([INTRODUCTION, *map(_section, verbs())])


def _section(verb: Verb) -> str:
    description = verb.help.partition("Example: ")[0].strip()
    annotations = get_type_hints(verb.command.callback)
    rows = "\n".join(_row(parameter, annotations.get(parameter.name)) for parameter in verb.command.params)
    return (
        f"## {verb.name}\n\n{_paragraphs(description)}\n\n```sh\n{verb.example}\n```\n\n"
        f"| | |\n| --- | --- |\n{rows}\n"
    )


def _paragraphs(text: str) -> str:
    return "\n\n".join(map(_plain, text.split("\n\n")))


def _row(parameter: Any, annotation: Any) -> str:
    """Return the table row of an option: names, help and choices, without words that typer may change."""
    named = [name for name in parameter.opts if name.startswith("-")] or [parameter.name.upper()]
    cells = [_plain(parameter.help or ""), _choices(annotation), _default(parameter)]
    return f"| {', '.join(f'`{name}`' for name in named)} | {' '.join(filter(None, cells))} |"


def _literals(annotation: Any) -> Iterator[str]:
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
        return
    for part in get_args(annotation):
        yield from _literals(part)


def _choices(annotation: Any) -> str:
    choices = list(_literals(annotation))
    return f"One of {', '.join(f'`{choice}`' for choice in choices)}." if choices else ""


def _default(parameter: Any) -> str:
    default = parameter.default
    shown = isinstance(default, int | float | str | Path) and not isinstance(default, bool) and str(default)
    return f"Default: `{default}`." if shown else ""


def _plain(text: str) -> str:
    """Escape every character that Markdown would read as markup."""
    for mark in "\\*_<[|":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())


if __name__ == "__main__":
    sys.stdout.write(page())
