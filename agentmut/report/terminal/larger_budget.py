"""How a run goes on that its budget has ended."""

from agentmut.nouns import SpentBudget


def resume_with_more(ended_by: SpentBudget | None, where: str = "") -> str:
    """Return the command that resumes a run with more of the budget that has ended it.

    If no budget is known, all options stand behind the command. `where` is the option of the project.

    >>> resume_with_more(SpentBudget(budget="trials", limit=300))
    '`agentmut resume --trials N` with N above 300'
    """
    if ended_by is None:
        return f"`agentmut resume --usd N{where}` with a larger budget (or --trials, --minutes)"
    limit = f"{ended_by.limit:.0f}" if ended_by.budget == "trials" else f"{ended_by.limit:g}"
    return f"`agentmut resume --{ended_by.budget} N{where}` with N above {limit}"
