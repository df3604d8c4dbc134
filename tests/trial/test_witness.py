"""Which footprints prove that an edit arrived; texts and expectations by hand."""

import pytest

from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.footprints import Footprint, RequestShape
from agentmut.nouns.mutant import Edit
from agentmut.nouns.tools import ToolSpec
from agentmut.trial.witness.witness import Detector, Route
from tests.trial.bare_mutants import mutant

PROMPT = "You are Ada. Greet {customer} warmly. Never promise dates. Answer in English."
LOOK = ToolSpec(name="look", description="Look up an order.")
PAY = ToolSpec(name="pay", description="Pay money back.")
ASK = ToolSpec(name="ask", description="Ask a colleague.")
POLICY = Document(name="policy", text="Refunds take five days. Returns are free. Gifts are final.")
SHIPPING = Document(name="shipping", text="Parcels leave at noon. Islands take longer.")
BASE = AgentConfig(
    prompt=PROMPT,
    tools=(LOOK, PAY, ASK),
    model=ModelConfig(name="big", temperature=0.7),
    context=(POLICY, SHIPPING),
)


def cut(text: str, after: str = "", pointer: str = "/prompt", within: str = PROMPT) -> Edit:
    start = within.index(text)
    return Edit(pointer=pointer, before=text, after=after, span=(start, start + len(text)))


def sent(config: AgentConfig, **changes: object) -> RequestShape:
    """What an honest agent sends: placeholders filled in, indentation changed, a user's question at the end."""
    text = config.system_text().replace("{customer}", "Bo").replace("{{customer}}", "Bo")
    indented = text.replace(". ", ".\n    ")
    shape = RequestShape(
        text=f"{indented}\n\nWhere is my parcel?",
        tools=config.tools,
        model=config.model.name,
        temperature=config.model.temperature,
    )
    return shape.model_copy(update=changes)


TOOLS_PLAIN = [tool.model_dump(mode="json") for tool in BASE.tools]
NOISE = Document(name="noise", text="Monday: soup.")
MUTANTS = {
    "first sentence dropped": [cut("You are Ada. ")],
    "sentence with a placeholder dropped": [cut("Greet {customer} warmly. ")],
    "sentence after a placeholder dropped": [cut("Never promise dates. ")],
    "last sentence dropped": [cut(" Answer in English.")],
    "all but a placeholder dropped": [
        cut("You are Ada. Greet "),
        cut(" warmly. Never promise dates. Answer in English."),
    ],
    "word replaced next to a placeholder": [cut("warmly", "coldly")],
    "neighbours replaced": [cut("Never", "Always"), cut("promise", "give")],
    "neighbours swapped": [
        cut("Never promise dates.", "Answer in English."),
        cut("Answer in English.", "Never promise dates."),
    ],
    "noise at the start": [Edit(pointer="/prompt", before="", after="It rains. ", span=(0, 0))],
    "noise at the end": [Edit(pointer="/prompt", before="", after=" It rains.", span=(len(PROMPT), len(PROMPT)))],
    "noise in the middle": [Edit(pointer="/prompt", before="", after="It rains. ", span=(13, 13))],
    "whole prompt replaced late": [Edit(pointer="/prompt", before=PROMPT, after=PROMPT.replace("English", "Latin"))],
    "whole prompt emptied": [Edit(pointer="/prompt", before=PROMPT, after="")],
    "tool removed": [Edit(pointer="/tools/1", before=TOOLS_PLAIN[1], after=None)],
    "tool added": [Edit(pointer="/tools/3", before=None, after={"name": "spy", "description": "Spy."})],
    "tools emptied": [Edit(pointer="/tools", before=TOOLS_PLAIN, after=[])],
    "tools reversed": [Edit(pointer="/tools", before=TOOLS_PLAIN, after=TOOLS_PLAIN[::-1])],
    "tool described otherwise": [
        Edit(pointer="/tools/0/description", before=LOOK.description, after=PAY.description)
    ],
    "tool parameter added": [
        Edit(pointer="/tools/0/parameters/properties", before={}, after={"x": {"type": "string"}})
    ],
    "model swapped": [Edit(pointer="/model/name", before="big", after="small")],
    "temperature changed": [Edit(pointer="/model/temperature", before=0.7, after=1.5)],
    "temperature unset": [Edit(pointer="/model/temperature", before=0.7, after=None)],
    "document truncated": [cut("Returns are free. Gifts are final.", "", "/context/0/text", POLICY.text)],
    "document removed": [Edit(pointer="/context/0", before=POLICY.model_dump(mode="json"), after=None)],
    "document added first": [Edit(pointer="/context/0", before=None, after=NOISE.model_dump(mode="json"))],
    "document added last": [Edit(pointer="/context/2", before=None, after=NOISE.model_dump(mode="json"))],
    "documents reversed": [
        Edit(
            pointer="/context",
            before=[POLICY.model_dump(mode="json"), SHIPPING.model_dump(mode="json")],
            after=[SHIPPING.model_dump(mode="json"), POLICY.model_dump(mode="json")],
        )
    ],
    "documents emptied": [
        Edit(pointer="/context", before=[POLICY.model_dump(mode="json"), SHIPPING.model_dump(mode="json")], after=[])
    ],
}  # fmt: skip
HELPER = RequestShape(text="Summarise the conversation.", model="helper")


@pytest.mark.parametrize("edits", MUTANTS.values(), ids=MUTANTS.keys())
def test_an_agent_that_sends_its_mutated_config_is_witnessed_in_full(edits: list[Edit]) -> None:
    broken = mutant(*edits)
    witness = Detector(broken, BASE).witness(Footprint(requests=(HELPER, sent(broken.apply(BASE)))))
    assert witness is not None
    assert (witness.route, witness.seen, witness.edits) == (Route.SENT, len(edits), len(edits))


@pytest.mark.parametrize("edits", MUTANTS.values(), ids=MUTANTS.keys())
def test_an_agent_that_goes_on_sending_the_original_is_not_witnessed(edits: list[Edit]) -> None:
    detector = Detector(mutant(*edits), BASE)
    assert detector.witness(Footprint(requests=(sent(BASE), HELPER))) is None


@pytest.mark.parametrize("edits", MUTANTS.values(), ids=MUTANTS.keys())
def test_original_requests_carry_every_part_that_can_be_mutated(edits: list[Edit]) -> None:
    assert Detector(mutant(*edits), BASE).carried(Footprint(requests=(HELPER, sent(BASE))))


@pytest.mark.parametrize(
    "name",
    [
        "first sentence dropped",
        "tool removed",
        "tool described otherwise",
        "model swapped",
        "document truncated",
    ],
)
def test_an_agent_that_sends_something_else_altogether_carries_nothing(name: str) -> None:
    assert not Detector(mutant(*MUTANTS[name]), BASE).carried(Footprint(requests=(HELPER,)))


def test_parameters_are_compared_without_the_titles_that_frameworks_drop() -> None:
    schema = {
        "type": "object",
        "properties": {"id": {"type": "string", "title": "Id"}, "title": {"type": "string"}},
    }
    base = AgentConfig(tools=(ToolSpec(name="look", parameters=schema),))
    renamed = {"number": {"type": "string", "title": "Number"}, "title": {"type": "string"}}
    edit = Edit(pointer="/tools/0/parameters/properties", before=schema["properties"], after=renamed)

    def offering(properties: dict[str, object]) -> Footprint:
        tool = ToolSpec(name="look", parameters={"type": "object", "properties": properties})
        return Footprint(requests=(RequestShape(text="", tools=(tool,)),))

    detector = Detector(mutant(edit), base)
    assert detector.witness(offering({"number": {"type": "string"}, "title": {"type": "string"}}))
    assert not detector.witness(offering({"number": {"type": "string"}}))
    assert not detector.witness(offering({"id": {"type": "string"}, "title": {"type": "string"}}))


def test_a_placeholder_at_the_edge_of_the_window_does_not_hide_an_edit() -> None:
    prompt = "{a_rather_long_placeholder_name_of_a_customer} is here. Be kind. Be brief."
    base = AgentConfig(prompt=prompt)
    broken = mutant(cut("Be kind. ", within=prompt))
    filled = broken.apply(base).prompt.replace("{a_rather_long_placeholder_name_of_a_customer}", "Bo")
    assert Detector(broken, base).witness(Footprint(requests=(RequestShape(text=filled),)))


def test_a_reordering_of_documents_shows_among_those_that_a_scenario_carries() -> None:
    documents = [*BASE.context, Document(name="other", text="Only another scenario has this.")]
    base = BASE.model_copy(update={"context": tuple(documents)})
    plain = [document.model_dump(mode="json") for document in documents]
    broken = mutant(Edit(pointer="/context", before=plain, after=plain[::-1]))
    carried = BASE.model_copy(update={"context": (SHIPPING, POLICY)})
    assert Detector(broken, base).witness(Footprint(requests=(sent(carried),)))
    assert not Detector(broken, base).witness(Footprint(requests=(sent(BASE),)))


def test_two_edits_of_which_one_arrives_are_witnessed_in_part() -> None:
    edits = (cut("Never promise dates. "), Edit(pointer="/model/name", before="big", after="small"))
    partly = sent(BASE, model="small")
    witness = Detector(mutant(*edits), BASE).witness(Footprint(requests=(partly,)))
    assert witness is not None
    assert (witness.seen, witness.edits) == (1, 2)


def test_the_same_sentence_twice_is_told_apart_by_its_surroundings() -> None:
    base = AgentConfig(prompt="Be nice. Be nice.")
    broken = mutant(Edit(pointer="/prompt", before="Be nice. ", after="", span=(0, 9)))
    assert Detector(broken, base).witness(Footprint(requests=(RequestShape(text="Be nice.\n\nHi"),)))
    assert not Detector(broken, base).witness(Footprint(requests=(RequestShape(text="Be nice. Be nice."),)))


def test_a_part_of_the_agent_that_no_request_shows_is_not_witnessed() -> None:
    base = AgentConfig(prompt="p", orchestration={"limit": 3}, model=ModelConfig(provider="a"))
    seen = Footprint(requests=(RequestShape(text="p"),))
    for pointer, before, after in (("/orchestration/limit", 3, 1), ("/model/provider", "a", "b")):
        assert Detector(mutant(Edit(pointer=pointer, before=before, after=after)), base).witness(seen) is None


@pytest.mark.parametrize(
    ("reads", "name", "witnessed"),
    [
        ({"prompt"}, "first sentence dropped", True),
        ({"tools", "context"}, "first sentence dropped", False),
        ({"model.name"}, "model swapped", True),
        ({"model.temperature"}, "model swapped", False),
        ({"model"}, "model swapped", True),
        ({"tools"}, "tool described otherwise", True),
        ({"context"}, "document truncated", True),
        (set[str](), "model swapped", False),
    ],
)
def test_without_a_wire_reads_of_the_config_are_the_witness(
    reads: set[str], name: str, witnessed: bool
) -> None:
    witness = Detector(mutant(*MUTANTS[name]), BASE).witness(Footprint(reads=tuple(sorted(reads))))
    assert (witness is not None) == witnessed
    assert witness is None or witness.route is Route.READ


def test_identity_is_witnessed_by_any_activity_and_by_nothing_else() -> None:
    detector = Detector(mutant(), BASE)
    assert detector.witness(Footprint(requests=(HELPER,)))
    assert detector.witness(Footprint(reads=("prompt",)))
    assert detector.witness(Footprint()) is None


def test_an_edit_of_white_space_is_seen_only_where_white_space_is_kept() -> None:
    prompt = "Be kind to {name}.\nBe brief.\nNever guess."
    base = AgentConfig(prompt=prompt)
    at = prompt.index("Never")
    broken = mutant(Edit(pointer="/prompt", before="", after="\n", span=(at, at)))

    def sending(text: str) -> Footprint:
        return Footprint(requests=(RequestShape(text=text),))

    assert Detector(broken, base).witness(sending("Be kind to Bo.\nBe brief.\n\nNever guess."))
    assert not Detector(broken, base).witness(sending("Be kind to Bo.\nBe brief.\nNever guess."))
    assert not Detector(broken, base).witness(sending("Be kind to Bo. Be brief. Never guess."))
    assert Detector(broken, base).carried(sending("Be kind to Bo.\nBe brief.\nNever guess."))


FAULT = Edit(pointer="/tools/1/fault", before=None, after={"kind": "empty"})


def test_a_fault_of_a_tool_is_witnessed_by_its_mark_and_by_nothing_that_was_sent() -> None:
    detector = Detector(mutant(FAULT), BASE)
    request = RequestShape(text=PROMPT, tools=BASE.tools)
    assert detector.witness(Footprint(requests=(request,), reads=("tools",))) is None
    assert detector.witness(Footprint(requests=(request,), marks=("/tools/look/fault",))) is None
    found = detector.witness(Footprint(requests=(request,), marks=("/tools/pay/fault",)))
    assert found is not None
    assert (found.route, found.seen, found.edits) == (Route.LIVE, 1, 1)


def test_a_fault_that_comes_with_another_edit_is_one_of_two() -> None:
    detector = Detector(mutant(cut("warmly"), FAULT), BASE)
    sent = RequestShape(text=PROMPT.replace("warmly", ""))
    both = detector.witness(Footprint(requests=(sent,), marks=("/tools/pay/fault",)))
    assert both is not None and (both.route, both.seen) == (Route.SENT, 2)
    alone = detector.witness(Footprint(requests=(RequestShape(text=PROMPT),), marks=("/tools/pay/fault",)))
    assert alone is not None and (alone.route, alone.seen) == (Route.LIVE, 1)
