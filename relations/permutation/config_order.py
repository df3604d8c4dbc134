"""Relations on the order of documents and of tools."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from random import Random
from typing import ClassVar

from pydantic import BaseModel, JsonValue

from agentmut.nouns import (
    AgentConfig,
    Document,
    Edit,
    Family,
    FollowUp,
    FollowUpRun,
    Scenario,
    Source,
    ToolSpec,
)
from agentmut.relations.invariants import Invariant
from agentmut.seams import RelationExample, answer, example

_DOCUMENTS = r"(?:documents?|pages?|passages?|sources?|articles?|chunks?|context|excerpts?|results?)"
_PLACE = r"(?:first|second|third|last|previous|next|earlier|later|topmost|top|bottom|final)"
_OF_DOCUMENTS = re.compile(
    rf"\b{_PLACE} (?:\w+ )?{_DOCUMENTS}\b|\border of (?:the |these )?{_DOCUMENTS}\b"
    rf"|\b{_DOCUMENTS}\b[^.]{{0,40}}\b(?:overrides?|in (?:this |that |the given )?order|takes precedence)\b",
    re.I,
)
_OF_TOOLS = re.compile(
    rf"\b{_PLACE} (?:\w+ )?tools?\b|\border of (?:the |these )?tools\b"
    r"|\btools?\b[^.]{0,40}\bin (?:this|that|the (?:given|listed)) order\b",
    re.I,
)
_NUMBERED = re.compile(r"^(?P<stem>.*?)[\s_.#-]*(?P<number>\d+)(?:\.\w+)?$")


class DocumentOrder(Invariant):
    """The documents come in another order."""

    id: ClassVar[str] = "permutation.document_order"
    family: ClassVar[Family] = Family.PERMUTATION
    why: ClassVar[str] = "The answer hangs on where a passage stands: ranking decides what the user is told."

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why the order cannot change, in a phrase; empty if it can."""
        if len(config.context) < 2:
            return "the agent is given fewer than two documents"
        if _OF_DOCUMENTS.search(config.prompt) or _listed(scenario, _OF_DOCUMENTS):
            return "the order of the documents is spoken of"
        return "the documents are numbered parts of one" if _is_series(config.context) else ""

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return the documents in reverse or shuffled, drawn by chance."""
        items = source.config.context
        if self.lack(source.scenario, source.config):
            return None
        own = {document.name for document in source.scenario.context}
        # Which of the others the scenario carries is not known here. In reverse, all pairs change places.
        order, how = _order(len(items), source.rng, only_reverse=bool(own))
        return _reordered("/context", items, order, f"documents {how}")

    def examples(self) -> Iterable[RelationExample]:
        """Yield two documents that change places."""
        config = AgentConfig(
            context=(
                Document(name="fees", text="A new card costs 5 euros."),
                Document(name="hours", text="We open at 9:00."),
            )
        )
        asked, source_answer = "What does a new card cost?", answer("A new card costs 5 euros.")
        yield example(asked, source_answer, answer("It is 5 euros for a new card."), True, config)
        yield example(asked, source_answer, answer("A new card costs 9 euros."), False, config)


class ToolOrder(Invariant):
    """The tools are offered in another order."""

    id: ClassVar[str] = "permutation.tool_order"
    family: ClassVar[Family] = Family.PERMUTATION
    why: ClassVar[str] = "The model takes a tool for its place in the list, not for what it does."

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why the order cannot change, in a phrase; empty if it can."""
        if len(config.tools) < 2:
            return "the agent has fewer than two tools"
        spoken = _OF_TOOLS.search(config.prompt) or _listed(scenario, _OF_TOOLS)
        return "the order of the tools is spoken of" if spoken else ""

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return the tools in reverse or shuffled, drawn by chance."""
        if self.lack(source.scenario, source.config):
            return None
        order, how = _order(len(source.config.tools), source.rng)
        return _reordered("/tools", source.config.tools, order, f"tools {how}")

    def examples(self) -> Iterable[RelationExample]:
        """Yield two tools that change places."""
        config = AgentConfig(tools=(ToolSpec(name="find_loan"), ToolSpec(name="renew_loan")))
        asked: str = "Please renew my loan L-12."
        loan: dict[str, JsonValue] = {"loan_id": "L-12"}
        renewed = answer("Loan L-12 is renewed.", ("renew_loan", loan))
        yield example(asked, renewed, answer("I renewed the loan L-12.", ("renew_loan", loan)), True, config)
        yield example(asked, renewed, answer("Here is loan L-12.", ("find_loan", loan)), False, config)


def _listed(scenario: Scenario, pattern: re.Pattern[str]) -> bool:
    return any(isinstance(turn, str) and pattern.search(turn) for turn in scenario.turns)


def _is_series(documents: Sequence[Document]) -> bool:
    """Return whether names are those of successive pages or parts: `manual-1`, `manual-2`."""
    found = [match for document in documents if (match := _NUMBERED.match(document.name))]
    numbered = sorted((match["stem"], int(match["number"])) for match in found)
    return any(a[0] == b[0] and b[1] - a[1] == 1 for a, b in pairwise(numbered))


def _order(count: int, rng: Random, only_reverse: bool = False) -> tuple[list[int], str]:
    """Return an order other than the present one, and its name."""
    straight = list(range(count))
    if count == 2 or only_reverse or rng.random() < 0.25:
        return straight[::-1], "in reverse order"
    order = straight
    while order == straight:
        order = rng.sample(straight, count)
    return order, "shuffled"


def _reordered(pointer: str, items: Sequence[BaseModel], order: Sequence[int], description: str) -> FollowUp:
    plain = [item.model_dump(mode="json") for item in items]
    after = [plain[index] for index in order]
    edit = Edit(pointer=pointer, before=list(plain), after=after)
    names = ", ".join(str(item["name"]) for item in after)
    return FollowUp(runs=(FollowUpRun(edits=(edit,)),), description=f"{description}: {names}")
