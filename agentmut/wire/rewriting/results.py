"""Results of faulty tools, changed on their way back to the model.

On the wire a tool has been carried out by then: only what the model is told of it is another thing.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from agentmut.mutation import ResultForm, ToolFailure, instead_of_call, is_json_object, spoiled
from agentmut.nouns import LATE, UNCALLED, FaultKind, Role, Text, ToolFault
from agentmut.wire.rewriting.changes import Texts, with_texts

ToolOf = Callable[[Text], str | None]
"""The agent's name of the tool whose result a text is; None where that is not known."""
Call = tuple[str, str, str]
"""Tool, call id and result: which call it was, even where a service gives an id twice."""


class SpoiledResults(NamedTuple):
    """Texts of a request with the results of faulty tools."""

    texts: Texts
    changed: frozenset[str]
    """Tools, by the agent's name, a result of which is another one now."""
    late: Mapping[Call, float]
    """Calls of slow tools, with the seconds that each takes longer."""


@dataclass
class Results:
    """The results of a trial's calls; a call keeps its result whenever its history is sent again."""

    faults: Mapping[str, ToolFault]
    """By the agent's name of the tool."""
    given: dict[Call, str] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)
    """By tool, what its first call was answered: later requests need not have that any more."""

    def spoiled(self, texts: Texts, tool_of: ToolOf) -> SpoiledResults:
        """Return the texts with the results of faulty tools changed by their faults."""
        after: list[str | None] = [None] * len(texts)
        changed, late = set(), {}
        for tool, indexes in _calls(texts, tool_of):
            fault = self.faults.get(tool)
            if fault is None:
                continue
            result = "\n".join(texts[index].text for index in indexes)
            call = (tool, texts[indexes[0]].call_id or "", result)
            if fault.kind in LATE:
                late[call] = fault.seconds
            if fault.kind is FaultKind.SLOW:
                continue
            given = self.given.setdefault(call, _answer(fault.kind, result, self.first.get(tool, result)))
            self.first.setdefault(tool, given)
            if given != result:
                changed.add(tool)
                after[indexes[0]] = given
                for index in indexes[1:]:  # of several blocks, the first one says it all
                    after[index] = ""
        return SpoiledResults(with_texts(texts, after), frozenset(changed), late)


def _calls(texts: Texts, tool_of: ToolOf) -> Sequence[tuple[str, list[int]]]:
    """Return each result of a known tool with its texts; a result may have several."""
    results = [(index, text) for index, text in enumerate(texts) if text.role is Role.TOOL]
    groups = (list(group) for _, group in groupby(results, key=_of_call))
    named = ((tool_of(group[0][1]), [index for index, _ in group]) for group in groups)
    return [(tool, indexes) for tool, indexes in named if tool is not None]


def _of_call(result: tuple[int, Text]) -> tuple[str | None, object]:
    """Return the call id and the group of a block; without call ids each text is a result."""
    index, text = result
    return (text.call_id, None) if text.call_id else (None, index)


def _answer(kind: FaultKind, result: str, first: str) -> str:
    if kind not in UNCALLED:
        return str(spoiled(kind, result, first))
    form = ResultForm.MAPPING if is_json_object(result) else ResultForm.TEXT
    try:
        answer = instead_of_call(kind, form)
    except ToolFailure as error:
        answer = f"Error: {error}"
    return answer if isinstance(answer, str) else json.dumps(answer)
