"""How a run goes on that its budget has ended."""

import re
from collections.abc import Mapping
from types import MappingProxyType

_ENDED_BY = re.compile(r"the budget of \S+ (?P<unit>trials|USD|minutes) is used up")
_OPTIONS: Mapping[str, str] = MappingProxyType({"trials": "--trials", "USD": "--usd", "minutes": "--minutes"})


def resume_with_more(problem: str, where: str = "") -> str:
    """Return the command that resumes a run with more of the budget that has ended it, by the run's problem.

    If the problem names no budget, all options stand behind the command. `where` is the option of the project.

    >>> resume_with_more("the budget of 300 trials is used up")
    '`agentmut resume --trials N` with N above 300'
    """
    found = _ENDED_BY.search(problem)
    if found is None:
        return f"`agentmut resume --usd N{where}` with a larger budget (or --trials, --minutes)"
    limit = found.group().split()[3]
    return f"`agentmut resume {_OPTIONS[found['unit']]} N{where}` with N above {limit}"
