"""What frameworks log: it goes where the user has it go, and not to stderr where nobody has asked for it."""

import logging
from collections.abc import Iterable


def unless_asked_for(names: Iterable[str]) -> None:
    """Keep these loggers from stderr, where Python prints what no handler takes.

    What a run fails with is in its trace, and runs of mutants fail a lot.
    """
    for logger in map(logging.getLogger, names):
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
