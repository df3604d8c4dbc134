"""A new order of documents or tools is seen in what an agent sends, also where it sends only the first of them."""

from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.footprints import Footprint, RequestShape
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach
from agentmut.nouns.tools import ToolSpec
from agentmut.trial.witness.absence import absence
from agentmut.trial.witness.witness import Detector

RETURNS, SHIPPING = "Unused goods go back within 30 days.", "Express parcels come on the next working day."
LOOK_UP, CANCEL = ToolSpec(name="look_up"), ToolSpec(name="cancel")
CONFIG = AgentConfig(
    prompt="You help customers.",
    context=(Document(name="returns", text=RETURNS), Document(name="shipping", text=SHIPPING)),
    tools=(LOOK_UP, CANCEL),
)


def reversed_part(part: str) -> Mutant:
    before = CONFIG.model_dump(mode="json")[part]
    edit = Edit(pointer=f"/{part}", before=before, after=before[::-1])
    return Mutant(
        id="m", operator="control.relation", version=1, operator_class=OperatorClass.CONTROL, intent=Intent.CONTROL,
        reach=Reach.SENT, description="reversed", edits=(edit,),
    )  # fmt: skip


def sent(text: str, *tools: ToolSpec) -> Footprint:
    return Footprint(requests=(RequestShape(text=f"You help customers. {text}", tools=tools),))


def arrived(part: str, seen: Footprint, *originals: Footprint) -> bool:
    return Detector(reversed_part(part), CONFIG).informed(originals).witness(seen) is not None


def test_another_first_document_shows_the_new_order() -> None:
    assert arrived("context", sent(SHIPPING), sent(RETURNS))
    assert not arrived("context", sent(RETURNS), sent(RETURNS))


def test_another_first_tool_shows_the_new_order() -> None:
    assert arrived("tools", sent("", CANCEL), sent("", LOOK_UP))
    assert not arrived("tools", sent("", LOOK_UP), sent("", LOOK_UP))


def test_an_agent_that_picks_now_this_and_now_that_shows_nothing_by_its_pick() -> None:
    assert not arrived("context", sent(SHIPPING), sent(RETURNS), sent(SHIPPING))
    assert not arrived("tools", sent("", CANCEL), sent("", LOOK_UP), sent("", CANCEL))


def test_asked_for_other_things_an_agent_may_pick_others() -> None:
    picks = Detector(reversed_part("context"), CONFIG).informed([sent(RETURNS)]).of_other_turns()
    assert picks.witness(sent(SHIPPING)) is None
    together = Detector(reversed_part("context"), CONFIG).informed([sent(f"{RETURNS} {SHIPPING}")])
    assert together.of_other_turns().witness(sent(f"{SHIPPING} {RETURNS}")) is not None


def test_of_documents_that_are_sent_together_the_order_tells() -> None:
    both = sent(f"{RETURNS} {SHIPPING}")
    assert arrived("context", sent(f"{SHIPPING} {RETURNS}"), both)
    assert not arrived("context", both, both)


def test_an_answer_without_documents_shows_no_order() -> None:
    assert not arrived("context", sent(""), sent(RETURNS))


def test_an_agent_that_shuffles_its_tools_shows_no_order_and_is_told_so() -> None:
    one, other = sent("", LOOK_UP, CANCEL), sent("", CANCEL, LOOK_UP)
    assert arrived("tools", other, one, one)
    assert not arrived("tools", other, one, other)
    said = absence(reversed_part("tools"), CONFIG, [one, other], None)
    assert "now in one order, now in another" in said
    removed = [Footprint(requests=(RequestShape(text="You help customers."),))]
    gone = reversed_part("tools").edits[0].model_copy(update={"after": []})
    without = reversed_part("tools").model_copy(update={"edits": (gone,)})
    assert Detector(without, CONFIG).informed([one, other]).witness(removed[0]) is not None
