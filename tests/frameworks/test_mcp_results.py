"""What faults and doubles make of the results of tool servers, and which tools are told on several pages."""

from typing import Any

import pytest

from agentmut.mutation.tool_faults.answers import spoiled
from agentmut.nouns.faults import FaultKind, ToolFault
from agentmut.nouns.tools import ToolSpec
from agentmut.recording.trial import ToolChange
from agentmut.trial.mcp.listing import listed
from agentmut.trial.mcp.results import result_of, text_of, with_text, within

pytestmark = pytest.mark.framework

TEXT = {"type": "text", "text": "Order A-1042 costs 12.50"}
IMAGE = {"type": "image", "data": "iVBORw0KGgo1234", "mimeType": "image/png"}
LINK = {
    "type": "resource_link", "uri": "file:///orders/A-1042.json", "name": "A-1042", "mimeType": "text/x-1", "size": 12,
    "annotations": {"priority": 0.5},
}  # fmt: skip
HELD = {"type": "resource", "resource": {"uri": "file:///a", "text": "Order A-1042", "mimeType": "text/x-1"}}
EMPTY, CUT, CROOKED, OTHER = (
    FaultKind.EMPTY,
    FaultKind.TRUNCATED,
    FaultKind.MALFORMED,
    FaultKind.WRONG_ENTITY,
)


def struck(fault: FaultKind, *content: Any, **more: Any) -> dict[str, Any]:
    result = {"content": list(content), **more}
    text = text_of(result)
    return with_text(result, within(lambda value: spoiled(fault, value, value), text))


@pytest.mark.parametrize(
    ("fault", "content", "left"),
    [
        (CUT, [TEXT, IMAGE], [TEXT]),
        (CUT, [IMAGE], [IMAGE]),
        (CUT, [LINK], [LINK]),
        (EMPTY, [TEXT, IMAGE], []),
        (OTHER, [TEXT, IMAGE], [{"type": "text", "text": "Order A-4375 costs 45.83"}, IMAGE]),
        (OTHER, [LINK], [{**LINK, "uri": "file:///orders/A-4375.json", "name": "A-4375"}]),
        (OTHER, [HELD], [{**HELD, "resource": {**HELD["resource"], "text": "Order A-4375"}}]),  # type: ignore[dict-item]
        (CROOKED, [IMAGE], [{"type": "text", "text": '[{"type": "image", "data": "iVBORw0,'}]),
    ],
)
def test_pictures_and_links_get_lost_or_stay_sound(fault: FaultKind, content: Any, left: Any) -> None:
    assert struck(fault, *content) == {"content": left}


def test_what_is_said_in_a_form_of_its_own_only_goes_wrong_too() -> None:
    assert struck(OTHER, structuredContent={"order": "A-1042"})["structuredContent"] == {"order": "A-4375"}
    assert "structuredContent" not in struck(CROOKED, structuredContent={"order": "A-1042"})


def test_what_a_double_returns_is_no_part_of_a_result_that_clients_refuse() -> None:
    cards = [{"type": "visa", "number": 7}]
    assert result_of(cards)["content"] == [{"type": "text", "text": '[{"type": "visa", "number": 7}]'}]
    assert result_of({"id": 7})["structuredContent"] == {"id": 7}


def test_a_decoy_is_told_on_the_page_that_has_its_neighbour() -> None:
    look, refund = ToolSpec(name="look"), ToolSpec(name="refund")
    decoy = ToolSpec(name="look_v2", fault=ToolFault(kind=FaultKind.DECOY))
    change = ToolChange((look, refund), (look, decoy, refund))
    pages = [listed([{"name": name, "inputSchema": {}}], change) for name in ("look", "refund")]
    assert [[tool["name"] for tool in page] for page in pages] == [["look", "look_v2"], ["refund"]]


def test_what_a_server_says_of_its_tools_besides_stays() -> None:
    told = {
        "name": "look", "title": "Look", "inputSchema": {}, "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True}, "icons": [], "_meta": {"a": 1},
    }  # fmt: skip
    renamed = ToolSpec(name="find", implemented_by="look")
    assert listed([told], ToolChange((ToolSpec(name="look"),), (renamed,))) == [{**told, "name": "find"}]
