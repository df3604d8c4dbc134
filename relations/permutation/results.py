"""The relation of the order in results: a tool's items come in another order, and the agent's actions stay the same."""

import re
from collections.abc import Iterable
from typing import ClassVar

from agentmut.mutation import spoiled
from agentmut.nouns import (
    Action,
    AgentConfig,
    AgentTrace,
    Family,
    FaultKind,
    FollowUp,
    Scenario,
    Source,
    Step,
    ToolSpec,
)
from agentmut.relations.faults import run_with_fault
from agentmut.relations.invariants import Invariant
from agentmut.seams import RelationExample, answer, example

_BY_PLACE = re.compile(
    r"\b(?:first|second|third|last|next|previous|top|bottom|newest|latest|oldest|earliest|recent|order(?:ed)? by"
    r"|sort(?:ed)?|rank(?:ed|ing)?)\b",
    re.I,
)


class ResultOrder(Invariant):
    """A tool that the run called returns the items of its lists in reverse order.

    Only agents whose calls pass agentmut can be given such results. Requests and prompts that speak of the place of an
    item, such as "the last one" or "sorted", are left out.
    """

    id: ClassVar[str] = "permutation.result_order"
    family: ClassVar[Family] = Family.PERMUTATION
    why: ClassVar[str] = (
        "The agent takes what a tool lists first: a search that ranks otherwise decides for the user."
    )

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why no result can have another order, in a phrase; empty where one can."""
        if all(tool.fault is not None for tool in config.tools):
            return "the agent has no tools"
        texts = [turn for turn in scenario.turns if isinstance(turn, str)]
        spoken = any(_BY_PLACE.search(text) for text in (config.prompt, *texts))
        return "the place of an item is spoken of" if spoken else ""

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return the change of one tool that gave the run a list, drawn by chance; None where none did."""
        if self.lack(source.scenario, source.config):
            return None
        listing = {
            step.tool
            for step in source.trace.steps
            if step.action is Action.CALL_TOOL and _lists(step.output)
        }
        found = run_with_fault(source, listing, FaultKind.REVERSED)
        if found is None:
            return None
        run, tool = found
        return FollowUp(runs=(run,), description=f"the items in the results of {tool} in reverse")

    def examples(self) -> Iterable[RelationExample]:
        """Yield an agent that looks for the right item, and one that takes the first."""
        config = AgentConfig(tools=(ToolSpec(name="list_orders"),))
        asked = "Which of my orders is late?"
        before = _listed("A-1007", "A-1002")
        yield example(asked, before, answer("A-1007 is late.", ("list_orders", {})), True, config)
        yield example(asked, before, answer("Order A-1002 is late.", ("list_orders", {})), False, config)


def _lists(result: object) -> bool:
    """Return whether a result has a list that reads otherwise from its end, as data or as JSON text."""
    return bool(spoiled(FaultKind.REVERSED, result, first=None) != result)


def _listed(*found: str) -> AgentTrace:
    call = Step(action=Action.CALL_TOOL, tool="list_orders", output=list(found))
    answer = f"Order {found[0]} is late."
    return AgentTrace(steps=(call, Step(action=Action.RESPOND, output=answer)), outputs=(answer,))
