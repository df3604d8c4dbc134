"""Calls of a relation, which may be foreign code: every failure becomes an error that names the relation.

Each function raises `RunError` for any exception of the relation, SystemExit too, and for a result of another type. It
also does so for a call of more than `chosen.seconds`; a relation of agentmut has no such limit. `where` names the run.
"""

from collections.abc import Callable

from agentmut._base import AgentmutError, RunError, in_plugin, one_line, storable
from agentmut.nouns import AgentConfig, Check, FollowUp, Pair, Scenario, Source
from agentmut.recording import AgentExitError, OverdueError, in_time, users_context
from agentmut.seams import ChosenRelation, is_ctrl_c
from agentmut.trial import ThisProcessOnly, contained_calls

SHOWN = 80
"""Characters of a returned value that an error shows."""


def asked_lack(chosen: ChosenRelation, scenario: Scenario, config: AgentConfig) -> str:
    """Return why a relation does not fit a scenario; empty where it does."""
    what = f"relation {chosen.label} on scenario {scenario.name}: lack"
    found = _result(chosen, lambda: chosen.relation.lack(scenario, config), what)
    if isinstance(found, str):
        return storable(found)
    raise _returned(what, found, "why it does not fit, as a text, empty where it does")


def asked_follow_up(chosen: ChosenRelation, source: Source, where: str) -> FollowUp | None:
    """Return the follow-up of a source run; None where the relation does not apply to it."""
    what = f"relation {chosen.label} on {where}: follow_up"
    found = _result(chosen, lambda: chosen.relation.follow_up(source), what)
    if found is None or isinstance(found, FollowUp):
        return found
    raise _returned(what, found, "a FollowUp, or None where there is nothing to follow up")


def asked_check(chosen: ChosenRelation, pair: Pair, where: str) -> Check | None:
    """Return the check of a pair; None where the relation says nothing of it."""
    what = f"relation {chosen.label} on {where}: holds"
    found = _result(chosen, lambda: chosen.relation.holds(pair), what)
    if found is None or isinstance(found, Check):
        return found
    raise _returned(what, found, "a Check, or None where it says nothing")


def _result(chosen: ChosenRelation, call: Callable[[], object], call_name: str) -> object:
    ours = type(chosen.relation).__module__.startswith("agentmut.")
    try:
        with in_plugin(call_name), contained_calls():  # one of agentmut may call functions that read facts
            if ours or chosen.seconds is None:
                with ThisProcessOnly():
                    return users_context().run(call)
            return in_time(call, chosen.seconds)
    except OverdueError as error:
        place = str(error) or "an unknown place"
        fault = f"{call_name} took more than {chosen.seconds or 0:g} s; it was at {place}"
        raise RunError(f"{fault}. Correct the relation, or raise execution.evaluator_timeout") from None
    except BaseException as error:  # SystemExit too: the check would end with an exit code of another meaning
        if is_ctrl_c(error) or isinstance(error, RunError):  # as of a model judge that is out of reach
            raise
        raise _raised(error, call_name) from error


def _raised(error: BaseException, call_name: str) -> RunError:
    cause = error.__cause__ if isinstance(error, AgentExitError) and error.__cause__ else error
    if isinstance(cause, AgentmutError):  # of an evaluator that it builds, say
        return RunError(f"{call_name}: {cause}")
    if isinstance(cause, SystemExit):
        return RunError(f"{call_name} called sys.exit({cause.code!r}). Correct the relation")
    return RunError(f"{call_name} raised {one_line(cause)}. Correct the relation")


def _returned(call_name: str, found: object, expected: str) -> RunError:
    kind = type(found)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    try:
        shown = repr(found)[:SHOWN]
    except Exception:
        shown = "something"
    return RunError(f"{call_name} returned {shown} ({name}); expected {expected}. Correct the relation")
