"""In which exchanges of a trial an edit was seen, and in which it could have been; shapes by hand."""

import pytest

from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.footprints import Footprint, RequestShape, footprint
from agentmut.nouns.messages import Exchange, Message, ModelRequest, Role
from agentmut.nouns.mutant import Edit
from agentmut.nouns.tools import ToolSpec
from agentmut.trial.witness.witness import Detector, Sighting, Witness
from tests.trial.bare_mutants import mutant

PROMPT = "You are Ada. Never promise dates. Answer in English."
LOOK = ToolSpec(name="look", description="Look up an order.")
PAY = ToolSpec(name="pay", description="Pay money back.")
POLICY = Document(name="policy", text="Refunds take five days. Gifts are final.")
BASE = AgentConfig(
    prompt=PROMPT, tools=(LOOK, PAY), context=(POLICY,), model=ModelConfig(name="big", temperature=0.5)
)
OLD = RequestShape(text=f"{PROMPT}\n\n{POLICY.text}\n\nHi", tools=(LOOK, PAY), model="big", temperature=0.5)
HELPER = RequestShape(text="Summarise the conversation.", model="small", temperature=0.0)

DROPPED = Edit(pointer="/prompt", before="Never promise dates. ", after="", span=(13, 34))
REWORDED = Edit(pointer="/prompt", before="English", after="Latin", span=(44, 51))
REMOVED = Edit(pointer="/tools/1", before=PAY.model_dump(mode="json"), after=None)
DESCRIBED = Edit(pointer="/tools/0/description", before=LOOK.description, after="Find it.")
COOLED = Edit(pointer="/model/temperature", before=0.5, after=0.1)
UNDOCUMENTED = Edit(pointer="/context/0", before=POLICY.model_dump(mode="json"), after=None)
ADDED = Edit(
    pointer="/context/1", before=None, after=Document(name="n", text="Monday: soup.").model_dump(mode="json")
)
MOVED = Edit(
    pointer="/tools",
    before=[tool.model_dump(mode="json") for tool in (LOOK, PAY)],
    after=[tool.model_dump(mode="json") for tool in (PAY, LOOK)],
)
EDITS = {
    "dropped": (DROPPED, OLD.model_copy(update={"text": OLD.text.replace("Never promise dates. ", "")})),
    "reworded": (REWORDED, OLD.model_copy(update={"text": OLD.text.replace("English", "Latin")})),
    "described": (
        DESCRIBED,
        OLD.model_copy(update={"tools": (LOOK.model_copy(update={"description": "Find it."}), PAY)}),
    ),
    "cooled": (COOLED, OLD.model_copy(update={"temperature": 0.1})),
    "added": (ADDED, OLD.model_copy(update={"text": f"{PROMPT}\n\n{POLICY.text}\n\nMonday: soup.\n\nHi"})),
    "moved": (MOVED, OLD.model_copy(update={"tools": (PAY, LOOK)})),
}


def seen(*shapes: RequestShape, order: tuple[int, ...] = (), edits: tuple[Edit, ...]) -> Witness | None:
    return Detector(mutant(*edits), BASE).witness(Footprint(requests=shapes, order=order))


@pytest.mark.parametrize(("edit", "new"), EDITS.values(), ids=EDITS.keys())
def test_an_edit_that_misses_the_first_request_is_seen_in_the_others(edit: Edit, new: RequestShape) -> None:
    witness = seen(OLD, HELPER, new, order=(0, 1, 2, 1, 2), edits=(edit,))
    assert witness is not None
    assert witness.sightings == (Sighting(arrived=True, exchanges=(2, 4), could=(0, 2, 4)),)
    assert (witness.could, witness.shown) == ((0, 2, 4), (2, 4))
    assert witness.sightings[0].of == 3


def test_a_removed_tool_is_seen_missing_in_the_requests_that_offer_the_others() -> None:
    left = OLD.model_copy(update={"tools": (LOOK,)})
    witness = seen(left, HELPER, order=(0, 1, 0), edits=(REMOVED,))
    assert witness is not None and witness.sightings[0].exchanges == (0, 2) == witness.could
    assert seen(left, OLD, order=(0, 1), edits=(REMOVED,)) is None  # another agent may never have had it


@pytest.mark.parametrize(
    ("edit", "changes"), [(REMOVED, {"tools": (LOOK,)}), (UNDOCUMENTED, {"text": f"{PROMPT}\n\nHi"})]
)
def test_what_is_gone_from_some_requests_is_seen_where_the_original_always_has_it(
    edit: Edit, changes: dict[str, object]
) -> None:
    left = OLD.model_copy(update=changes)
    partly = Footprint(requests=(OLD, left), order=(0, 1, 1))
    told = Detector(mutant(edit), BASE).informed([Footprint(requests=(OLD, HELPER))])
    witness = told.witness(partly)
    assert witness is not None and (witness.could, witness.shown) == ((0, 1, 2), (1, 2))
    assert told.witness(Footprint(requests=(OLD, HELPER))) is None
    # so it was before
    assert Detector(mutant(edit), BASE).informed([Footprint(requests=(OLD, left))]).witness(partly) is None


def test_the_only_tool_is_seen_missing_in_every_request() -> None:
    base = AgentConfig(prompt=PROMPT, tools=(PAY,))
    gone = Edit(pointer="/tools/0", before=PAY.model_dump(mode="json"), after=None)
    bare = RequestShape(text=PROMPT)
    witness = Detector(mutant(gone), base).witness(Footprint(requests=(bare, HELPER), order=(0, 1)))
    assert witness is not None and witness.sightings[0].exchanges == (0, 1)


def test_a_removed_document_is_seen_missing_where_the_prompt_is() -> None:
    left = OLD.model_copy(update={"text": f"{PROMPT}\n\nHi"})
    witness = seen(HELPER, left, order=(0, 1, 1), edits=(UNDOCUMENTED,))
    assert witness is not None and witness.sightings == (
        Sighting(arrived=True, exchanges=(1, 2), could=(1, 2)),
    )


def test_a_request_counts_as_shown_when_it_shows_every_edit_that_it_could() -> None:
    both = OLD.model_copy(update={"text": OLD.text.replace("English", "Latin"), "temperature": 0.1})
    one = OLD.model_copy(update={"temperature": 0.1})
    witness = seen(both, one, order=(0, 1, 0), edits=(REWORDED, COOLED))
    assert witness is not None
    assert [s.exchanges for s in witness.sightings] == [(0, 2), (0, 1, 2)]
    assert (witness.seen, witness.edits, witness.could, witness.shown) == (2, 2, (0, 1, 2), (0, 2))


def test_an_edit_that_did_not_arrive_was_seen_in_no_exchange_that_could_have_shown_it() -> None:
    witness = seen(OLD.model_copy(update={"temperature": 0.1}), edits=(REWORDED, COOLED))
    assert witness is not None
    assert witness.sightings == (
        Sighting(could=(0,)),
        Sighting(arrived=True, exchanges=(0,), could=(0,)),
    )


def test_a_live_change_arrives_without_an_exchange() -> None:
    fault = Edit(pointer="/tools/1/fault", before=None, after={"kind": "empty"})
    found = Detector(mutant(fault), BASE).witness(Footprint(requests=(OLD,), marks=("/tools/pay/fault",)))
    assert found is not None and found.sightings == (Sighting(arrived=True),)
    assert (found.could, found.shown) == ((), ())


def asked(started: float, system: str, user: str) -> Exchange:
    messages = (Message(role=Role.USER, text=user), Message(role=Role.SYSTEM, text=system))
    return Exchange(ModelRequest(model="m", messages=messages), None, 200, None, started, 0.1, "d", "h")


def test_a_footprint_keeps_each_shape_once_and_the_order_in_which_they_were_sent() -> None:
    late, early = asked(3.0, "Ada", "Hi"), asked(1.0, "Bob", "Hi")
    found = footprint([late, early, late])  # as they ended
    assert [shape.text for shape in found.requests] == ["Bob\n\nHi", "Ada\n\nHi"]
    assert [shape.instructions for shape in found.requests] == ["Bob", "Ada"]
    assert found.order == found.exchanges == (0, 1, 1)
    assert found.unordered() == footprint([early, late]).unordered()
    assert found.unordered().digest != found.digest
    assert {(shape.dialect, shape.host) for shape in found.requests} == {("d", "h")}


def test_a_footprint_from_before_orders_were_kept_counts_each_request_once() -> None:
    old = Footprint.model_validate_json('{"requests": [{"text": "a"}, {"text": "b"}], "reads": []}')
    assert (old.order, old.exchanges) == ((), (0, 1))
