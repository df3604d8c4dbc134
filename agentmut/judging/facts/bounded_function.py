"""Facts that a user's own function reads, with a deadline, and apart from the work of agentmut."""

from functools import partial

from agentmut._base import RunError, briefly, in_plugin
from agentmut.language import OwnFunction
from agentmut.nouns import AgentTrace, Scenario
from agentmut.recording import AgentExitError, OverdueError, in_time

SECONDS = 60.0
"""Seconds that a function may take for the facts of one run."""


class BoundedFunction(OwnFunction):
    """`python: module:function`: the function returns the facts, as texts or as a mapping of names to values.

    It is called with `(scenario, trace)`, or with `(trace)` when it has one required parameter. A call may take 60
    seconds, and may not end the process.
    """

    def values(self, scenario: Scenario, trace: AgentTrace) -> list[str]:
        """Return the facts as texts. Raise `RunError` past the deadline, too."""
        label = self.label(scenario)
        try:
            with in_plugin(label):
                values: list[str] = in_time(partial(super().values, scenario, trace), SECONDS)
        except AgentExitError as error:
            raised = briefly(error.__cause__ or error)
            raise RunError(f"{label}, raised {raised}. Fix the function.") from error
        except OverdueError as error:
            place = str(error) or "an unknown place"
            problem = f"{label}, took more than {SECONDS:g} s; it was at {place}. Make it faster."
            raise RunError(problem) from None
        return values
