"""The errors of agentmut, and their exit codes.

Every error a user meets says what happened, where, and what to do about it.
"""

import difflib
import errno
from collections.abc import Iterable
from enum import IntEnum

MOST_NAMES = 40
"""Known names that a message lists."""
DISK_IS_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
REFUSALS_OF_THE_SYSTEM = {
    errno.EMFILE: "Something keeps files open, perhaps the agent, or `ulimit -n` is low.",
    errno.ENFILE: "Close programs that keep files open.",
    errno.ENOMEM: "Free memory, or lower execution.concurrency.",
    errno.EAGAIN: "Free processes or threads, raise `ulimit -u`, or lower execution.concurrency.",
    errno.EFBIG: "Raise the limit of a file's size: `ulimit -f`.",
    errno.EROFS: "Make the disk writable.",
    errno.EIO: "Look at the disk.",
    errno.ESTALE: "Mount the shared folder anew.",
}
"""What the system may refuse to any program, with what to do about it: no bug of agentmut."""
"""Error numbers of a disk, or of a user's share of it, without room."""


class ExitCode(IntEnum):
    """Process exit codes; `docs/design.md` lists them for users."""

    OK = 0
    """Pass, deploy, or: the campaign finished, whatever the score."""
    FAIL = 1
    """Evidence that a requirement is not met."""
    USAGE = 2
    """The command line or a file is wrong; nothing was run."""
    INCONCLUSIVE = 3
    """Not enough evidence either way, or a budget stopped the run."""
    BROKEN = 4
    """The run could not be carried out."""
    INTERRUPTED = 130
    """Ctrl-C, or a no to the question whether to run; what was finished is kept."""


class AgentmutError(Exception):
    """Base of every error for users: one paragraph with the fault, its place, and the remedy."""

    exit_code: ExitCode = ExitCode.BROKEN


class UsageError(AgentmutError):
    """The command line or a file is wrong; raised before anything is run."""

    exit_code = ExitCode.USAGE


class ProjectError(UsageError):
    """The project file or a scenario file is wrong; the message names file, key path and remedy."""


class PluginError(UsageError):
    """A plugin cannot be loaded, or does not have the signature of its seam."""


class MutationError(AgentmutError):
    """An edit does not fit the config it is applied to."""


class AdapterError(AgentmutError):
    """The agent under test cannot be built, or is not of the kind that its adapter expects."""


class UnavailableError(AgentmutError):
    """The agent could not be started or reached for an outside reason. The trial is repeated, and is no evidence."""


class CaseError(AgentmutError):
    """A case of a foreign suite failed by its own code, a fixture or its tool; no evidence."""


class NotJudgedError(AgentmutError):
    """A model that judges could not be asked, or gave no judgement; no evidence about the agent."""


class StoreError(AgentmutError):
    """The store cannot be opened, read or written."""


class RunError(AgentmutError):
    """The campaign cannot be carried out: no testable scenario, a failed control, a dead endpoint."""


class EvaluatorError(RunError):
    """An evaluator neither passes nor fails a run, which is no evidence about the agent.

    `bare` is the error without what it quotes of the run, for projects that keep no texts.
    """

    def __init__(self, text: str, bare: str = "") -> None:
        super().__init__(text)
        self.bare = bare

    def placed(self, where: str) -> "EvaluatorError":
        """Return the error with its place before it."""
        return EvaluatorError(f"{where}: {self}", f"{where}: {self.bare}")


class RunInterruptedError(AgentmutError):
    """Ctrl-C came before there was a result."""

    exit_code = ExitCode.INTERRUPTED


class BudgetError(AgentmutError):
    """A budget ended the run before it could be finished."""

    exit_code = ExitCode.INCONCLUSIVE


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a sentence that helps with a misspelt name: the nearest known name, or known names.

    Of many names the sentence lists those that have the word in them, or else the first ones.

    >>> nearest("contians", ["contains", "regex"])
    "Did you mean 'contains'?"
    >>> nearest("zzz", ["b", "a"])
    'Known: a, b.'
    >>> nearest("drop", ["prompt.drop_example", "tool.remove"])
    "Known with 'drop' in them: prompt.drop_example."
    """
    names = sorted(known)
    if close := difflib.get_close_matches(word, names, n=1):
        return f"Did you mean {close[0]!r}?"
    fitting = [name for name in names if word and word in name]
    listed = fitting or names
    more = f" and {len(listed) - MOST_NAMES} more" if len(listed) > MOST_NAMES else ""
    head = f"Known with {word!r} in them" if fitting else "Known"
    return f"{head}: {', '.join(listed[:MOST_NAMES]) or 'none'}{more}."
