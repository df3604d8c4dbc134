"""Read from promptfoo's result for one test what it says about the agent: its checks, or nothing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from agentmut._base import CaseError
from agentmut.nouns import Check
from agentmut.suites.promptfoo.cases import VERDICT, Case

ERROR = 2
"""`failureReason` of a result without a judgement."""
LONGEST_REASON = 400
_RAISED = (
    "Custom function threw error",
    "Python code execution failed",
    "Error running Python script",  # a file's, and so on
    "Invalid JSON returned by Python script",
    "Ruby code execution failed",
    "Error running Ruby script",
    "Webhook error",
    "Invalid regex pattern",
    "METEOR assertion requires",
)
"""Beginnings of the reasons of assertions that raised an error or were not run."""
_GRADED = {
    "similar": ("Similarity ", "Distance ", "None of the provided values"),
    "classifier": ("Classification ", "Maximum classification score", "No classification scores"),
    "answer-relevance": ("Relevance ",),
    "context-recall": ("Recall ",),
    "context-relevance": ("Context relevance ",),
    "context-faithfulness": ("Faithfulness ",),
    "model-graded-closedqa": ("The submission ",),
}
"""How the reasons of judgements begin, by type: promptfoo does not mark errors of these graders, and gives any text."""
_NOT_GRADED = (
    "API error", "API call error", "API response error", "Error:", "HTTP call failed", "Request timed out", "No output",
    "Invalid category value", "Factuality checker output",
)  # fmt: skip
"""Beginnings of the reasons of errors, for graders whose judgements are free text."""
Component = Mapping[str, Any]


def judged(result: Mapping[str, Any], case: Case, raised: Literal["error", "fail"]) -> tuple[Check, ...]:
    """Return the checks of a run, as promptfoo judged them.

    Raises `CaseError` where it is none: the evaluation broke off, a model that grades failed, or, unless `raised` is
    "fail", the code of an assertion raised an exception.
    """
    grading = result.get("gradingResult")
    if result.get("failureReason") == ERROR or (grading is None and not result.get("success")):
        raise CaseError(f"promptfoo: {_line(result.get('error') or 'no judgement')}")
    components = (grading or {}).get("componentResults") or ()
    for component in components:
        _check_sound(component, raised)
    if case.whole:
        passed = bool(result.get("success"))
        reason = str((grading or {}).get("reason") or "the test has no assertion")
        return (Check(evaluator=VERDICT, passed=passed, reason=_line(reason) + _cost(grading or {})),)
    return tuple(_checks(list(_own(components)), case))


def _checks(components: Sequence[Component], case: Case) -> Iterator[Check]:
    if len(components) != len(case.checks):
        raise CaseError(f"promptfoo judged {len(components)} assertions of {len(case.checks)}")
    for name, component in zip(case.checks, components, strict=True):
        if name is not None:
            reason = _line(str(component.get("reason") or "")) + _cost(component)
            yield Check(evaluator=name, passed=bool(component.get("pass")), reason=reason)


def _own(components: Sequence[Component]) -> Iterator[Component]:
    """Return the assertions of the test itself. Members of a set follow the set and count in it."""
    left = iter(components)
    for component in left:
        yield component
        for _ in component.get("componentResults") or () if _is_set(component) else ():
            next(left, None)


def _is_set(component: Component) -> bool:
    return "assertionSet" in (component.get("metadata") or {})


def _check_sound(component: Component, raised: Literal["error", "fail"]) -> None:
    reason = str(component.get("reason") or "")
    if _grader_failed(component, reason):
        raise CaseError(f"promptfoo's grader failed: {_line(reason)}")
    if raised == "error" and reason.startswith(_RAISED):
        raise CaseError(f"an assertion raised an exception: {_line(reason)}")


def _grader_failed(component: Component, reason: str) -> bool:
    """Return whether there is no judgement: a negated assertion passes by an error of some graders."""
    if (component.get("metadata") or {}).get("graderError"):
        return True
    kind = str((component.get("assertion") or {}).get("type") or "").removeprefix("not-")
    if kind.endswith("factuality"):
        return reason.startswith(_NOT_GRADED)
    if kind == "search-rubric":
        return "Search rubric evaluation failed" in reason  # behind other words, where it is negated
    judgements = _GRADED.get(kind.partition(":")[0], ("",))
    nothing_compared = reason.startswith(_GRADED["similar"][-1]) and not component.get("score")
    return not reason.startswith(judgements) or nothing_compared


def _cost(graded: Mapping[str, Any]) -> str:
    """Return what the grading models spent, which is no part of the agent's cost."""
    used = (graded.get("tokensUsed") or {}).get("total")
    return f" (the grader used {used} tokens)" if used else ""


def _line(text: str) -> str:
    return " ".join(str(text).partition("\nStack Trace")[0].split())[:LONGEST_REASON]
