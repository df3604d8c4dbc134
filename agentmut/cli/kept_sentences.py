"""What a command has kept when it is ended before its time, and how it goes on."""

from collections.abc import Sequence

TRIALS = "Finished trials are kept."
IMPORTED = "Imported runs are kept: the same command imports the rest."
IMPORTING = frozenset({"import", "watch"})
"""Verbs that bring recorded runs into the store, and have no trials."""
RESUMED = frozenset({"run", "resume"})
"""Verbs that `agentmut resume` goes on with."""


def kept_by(arguments: Sequence[str]) -> str:
    """Return the sentence about what a command line's verb has kept."""
    return IMPORTED if _imports(arguments) else TRIALS


def resumed_by(arguments: Sequence[str]) -> str:
    """Return the same sentence, which also names the command that goes on with a run of mutants."""
    resumable = bool(arguments) and arguments[0] in RESUMED
    return "Finished trials are kept: `agentmut resume` goes on." if resumable else kept_by(arguments)


def _imports(arguments: Sequence[str]) -> bool:
    return bool(arguments) and arguments[0] in IMPORTING
