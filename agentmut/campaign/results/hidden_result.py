"""The form of a result without texts, for projects that store no text."""

import re

from agentmut.nouns import MutantRow, Result, Status
from agentmut.recording import NOT_KEPT, TextKeeping

_QUOTED = re.compile(r'".*"', re.DOTALL)
EXPLAINED = (
    "no text is kept (store.texts): reports show where mutants change the agent and which scenarios notice, without "
    "the words of prompts, answers, arguments and results. The behaviour of survivors is not compared: that takes texts"
)


def without_texts(result: Result, texts: TextKeeping) -> Result:
    """Return the result without words of prompts and runs; unchanged where all texts are kept."""
    if not texts.is_hidden:
        return result
    notes = result.notes if EXPLAINED in result.notes else (*result.notes, EXPLAINED)
    rows = tuple(_row(row) for row in result.mutants)
    return result.model_copy(update={"mutants": rows, "sources": (), "notes": notes})


def _row(row: MutantRow) -> MutantRow:
    return row.model_copy(
        update={
            "before": "",
            "after": "",
            "changes": (),
            "description": place_of(row),
            "gap": None if row.status is Status.SURVIVED else row.gap,  # telling it takes texts
            "reason": reason_without_texts(row.reason),
        }
    )


def reason_without_texts(reason: str) -> str:
    """Return the reason for a status without what it quotes."""
    return _QUOTED.sub(f'"{NOT_KEPT}"', reason)


def place_of(row: MutantRow) -> str:
    """Return a mutant's description without texts: its operator and its place.

    The words of the change stand in the project's own files, where `agentmut mutants` finds them by the id.
    """
    target = row.target
    where = f" at {target.path}{f':{target.line}' if target.line else ''}" if target.path else ""
    return f"{row.operator}{where}"
