"""Stored plans of projects that keep no text: they lack the words of their mutants."""

from pydantic import JsonValue

from agentmut.campaign.preparation.plan import Plan, RunPlan
from agentmut.nouns import Edit, Mutant
from agentmut.recording import TextKeeping

_NAMES = ("/model/", "/orchestration/")
"""Parts of a config that hold names and numbers, and no text."""


def stored_plan_text(plan: RunPlan, texts: TextKeeping) -> str:
    """Return a plan in its stored form, without the words of mutants where no text may be stored."""
    if not texts.is_hidden or not isinstance(plan, Plan):
        return plan.model_dump_json()
    return plan.model_copy(
        update={
            "mutants": tuple(_hidden(mutant, texts) for mutant in plan.mutants),
            "identity": tuple(_hidden(mutant, texts) for mutant in plan.identity),
            "destroyed": _hidden(plan.destroyed, texts),
        }
    ).model_dump_json()


def is_wordless(plan: Plan) -> bool:
    """Return whether a stored plan was written without the words of its mutants."""
    return plan.destroyed.description == plan.destroyed.operator


def _hidden(mutant: Mutant, texts: TextKeeping) -> Mutant:
    return mutant.model_copy(
        update={
            "description": mutant.operator,
            "edits": tuple(_hidden_edit(edit, texts) for edit in mutant.edits),
            "parts": tuple(_hidden(part, texts) for part in mutant.parts),
        }
    )


def _hidden_edit(edit: Edit, texts: TextKeeping) -> Edit:
    if edit.pointer.startswith(_NAMES):
        return edit
    values = {"before": _hidden_value(edit.before, texts), "after": _hidden_value(edit.after, texts)}
    return edit.model_copy(update=values)


def _hidden_value(value: JsonValue, texts: TextKeeping) -> JsonValue:
    return value if isinstance(value, int | float) else texts.value(value)
