"""Calls of a relation, which may be foreign code: every failure becomes an error that names the relation."""

from collections.abc import Callable

from agentmut._base import AgentmutError, RunError, one_line

SHOWN = 80
"""Characters of a returned value that an error shows."""


def call_result(call: Callable[[], object], what: str) -> object:
    """Return the call's result, unchecked. Raise `RunError` for any exception, even SystemExit."""
    try:
        return call()
    except RunError:  # it says itself what is wrong, as a model judge that is out of reach does
        raise
    except AgentmutError as error:  # of an evaluator that it builds, say
        raise RunError(f"{what}: {error}") from error
    except SystemExit as error:  # would end the check with an exit code that means something else
        raise RunError(f"{what} called sys.exit({error.code!r}). Correct the relation") from error
    except Exception as error:
        raise RunError(f"{what} raised {one_line(error)}. Correct the relation") from error


def returned(what: str, found: object, expected: str) -> RunError:
    """Return the error of a call that returned something else than is expected."""
    kind = type(found)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    try:
        shown = repr(found)[:SHOWN]
    except Exception:
        shown = "something"
    return RunError(f"{what} returned {shown} ({name}); expected {expected}. Correct the relation")
