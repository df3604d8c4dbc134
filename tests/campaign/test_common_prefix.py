"""Mutants of like promise are tried by the common prefix of their requests, which is measured on requests."""

import json
from itertools import takewhile

from agentmut.campaign.preparation.common_prefix import by_common_prefix
from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach, apply_edits
from agentmut.nouns.tools import ToolSpec

CONFIG = AgentConfig(
    prompt="Be kind. Be brief. Never guess.",
    tools=(ToolSpec(name="look", description="Looks."), ToolSpec(name="send", description="Sends.")),
    context=(Document(name="page", text="Parcels take 3 days. Gifts are final."),),
)


def a_mutant(id: str, pointer: str, before: object, after: object, at: int | None = None) -> Mutant:
    span = None if at is None else (at, at + len(str(before)))
    edit = Edit(pointer=pointer, before=before, after=after, span=span)
    return Mutant(
        id=id, operator="x.y", version=1, operator_class=OperatorClass.PROMPT, intent=Intent.DEGRADE,
        reach=Reach.SENT, description="", edits=(edit,),
    )  # fmt: skip


MUTANTS = (
    a_mutant("model", "/model/name", "", "other"),
    a_mutant("kind", "/prompt", "Be kind. ", "", 0),
    a_mutant("guess", "/prompt", "Never guess.", "", 19),
    a_mutant("tool", "/tools/1/description", "Sends.", "Posts."),
    a_mutant("page", "/context/0/text", "Gifts are final.", "", 21),
)


def request(config: AgentConfig) -> str:
    """Return the beginning of a request as services read it: the model, tools, then the system message."""
    tools = json.dumps([tool.model_dump(mode="json") for tool in config.tools])
    return f"{config.model.name}|{tools}|{config.system_text()}"


def shared_with(original: str, other: str) -> int:
    """Return the number of characters of the common prefix."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(original, other, strict=False))
    return sum(1 for _ in pairs)


def test_those_that_share_most_of_the_originals_requests_come_first() -> None:
    ordered = by_common_prefix(MUTANTS)
    original = request(CONFIG)
    shared = [shared_with(original, request(apply_edits(CONFIG, mutant.edits))) for mutant in ordered]
    assert shared == sorted(shared, reverse=True)
    assert [mutant.id for mutant in ordered] == ["page", "guess", "kind", "tool", "model"]


def test_what_no_first_request_shows_shares_it_whole_and_equal_mutants_keep_their_order() -> None:
    fault = a_mutant("fault", "/tools/0/fault", None, {"kind": "timeout"})
    twice = (MUTANTS[1], MUTANTS[1].model_copy(update={"id": "again"}))
    assert [mutant.id for mutant in by_common_prefix((*twice, fault))] == ["fault", "kind", "again"]
