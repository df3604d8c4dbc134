"""Mutants with edits and nothing else that matters, for tests of the witness."""

from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach


def mutant(*edits: Edit) -> Mutant:
    """Return a mutant of the prompt's class that every request can show."""
    return Mutant(
        id="m",
        operator="o",
        version=1,
        operator_class=OperatorClass.PROMPT,
        intent=Intent.DEGRADE,
        reach=Reach.SENT,
        description="",
        edits=edits,
    )
