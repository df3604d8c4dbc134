"""What is read out of rules in the forms that people write them in: steps, conditions, order, sayings."""

import pytest

from agentmut.language.prompt.modality import Modality
from agentmut.nouns.tools import ToolSpec
from agentmut.simulator.mind.rules import Rule
from agentmut.simulator.mind.saying import rendered
from agentmut.simulator.mind.sequence import read_rules
from agentmut.simulator.mind.toolbox import open_toolbox


def read(prompt: str) -> list[Rule]:
    return list(read_rules(prompt))


def steps(prompt: str) -> list[tuple[str, str]]:
    """Each step ("not ..." where it is forbidden) with its condition ("not ..." where that is inverted)."""
    found = [clause for rule in read(prompt) for clause in rule.clauses]
    return [
        (
            f"{'not ' if clause.forbids else ''}{clause.phrase}",
            f"{'not ' if clause.when.inverted else ''}{clause.when.text}" if clause.when else "",
        )
        for clause in found
    ]


@pytest.mark.parametrize(
    ("rule", "when"),
    [
        ("Requests for hardware: open a ticket.", "hardware"),
        ("Questions about hardware or licences: open a ticket.", "hardware or licences"),
        ("For hardware, open a ticket.", "hardware"),
        ("In case of broken hardware, open a ticket.", "broken hardware"),
        ("In the event of broken hardware: open a ticket.", "broken hardware"),
        ("On Fridays, open a ticket.", "Fridays"),
        ("- Broken hardware: open a ticket.", "Broken hardware"),
        ("- **Broken hardware:** open a ticket.", "Broken hardware"),
        ("Broken hardware -> open a ticket", "Broken hardware"),
        ("Broken hardware – open a ticket.", "Broken hardware"),
        ("Broken hardware? Open a ticket.", "Broken hardware"),
        ("Is hardware broken? Open a ticket.", "hardware broken"),
        ("Should hardware break, open a ticket.", "hardware break"),
        ("Open a ticket whenever hardware breaks.", "hardware breaks"),
        ("Open a ticket unless hardware is old.", "not hardware is old"),
        ("Open a ticket in case of broken hardware.", "broken hardware"),
        ("If lights, fans or disks break, open a ticket.", "lights, fans or disks break"),
        ("Style: open a ticket.", ""),
        ("Open a ticket if possible.", ""),
    ],
)
def test_conditions_have_many_forms(rule: str, when: str) -> None:
    assert [(step.lower(), found) for step, found in steps(rule)] == [("open a ticket", when)]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("New members must be told to bring a towel.", ("tell them to bring a towel", "New members")),
        ("Anyone asking for oil must be told it is out.", ("tell them it is out", "Anyone asking for oil")),
        ("Members with a locker should be asked to empty it.", ("ask them to empty it", "Members with a locker")),
        ("Members who lose a key have to pay a fee.", ("tell them to pay a fee", "Members who lose a key")),
        ("Members must always be told that we film.", ("tell them that we film", "")),
        ("Tell new members to bring a towel.", ("Tell them to bring a towel", "new members")),
        ("Guests under 16 must not be given a key.", ("not give them a key", "Guests under 16")),
        ("It must be mentioned that we film.", ("mention that we film", "")),
        ("The fee of 9 francs must be mentioned when a key is lost.", ("mention the fee of 9 francs", "a key is lost")),
        ("Keys cost 9 francs, mention this when one is lost.", ("mention that Keys cost 9 francs", "one is lost")),
    ],
)  # fmt: skip
def test_what_others_are_to_be_told_is_said(rule: str, expected: tuple[str, str]) -> None:
    assert steps(rule) == [expected]


def test_this_in_a_second_sentence_is_what_the_first_states() -> None:
    assert ("mention that Lost keys cost 9 francs", "a key is lost") in steps(
        "Lost keys cost 9 francs. Mention this when a key is lost."
    )


@pytest.mark.parametrize(
    "lead", ["If it burns, tell them to leave.", "Fire: tell them to leave.", "Fire? Leave."]
)
def test_a_second_sentence_of_an_item_holds_under_the_condition_of_the_first(lead: str) -> None:
    *_, (ban, when) = steps(f"- {lead} Don't open anything.\n- Be brief.")[:-1]
    assert ban == "not open anything"
    assert when.lower() in ("it burns", "fire")
    assert steps(f"- {lead}\n- Don't open anything.")[-1] == ("not open anything", "")


def test_in_a_paragraph_a_sentence_leans_where_it_says_so() -> None:
    first = "If a key is lost, send a new one."
    assert steps(f"{first} Then block it.")[-1] == ("block it", "a key is lost")
    assert steps(f"{first} In that case, charge nothing.")[-1] == ("not charge anything", "a key is lost")
    assert steps(f"{first} Otherwise, wish them a nice day.")[-1] == (
        "wish them a nice day",
        "not a key is lost",
    )
    assert steps(f"{first} Be polite.")[-1] == ("Be polite", "")
    assert steps(f"{first} Always answer them in French.")[-1][1] == ""
    assert steps("If a key is lost, send one.\nDon't open anything.")[-1][1] == ""


def test_orders_joined_by_and_are_steps_of_their_own() -> None:
    when = "a key is lost"
    assert steps("If a key is lost, apologise, create a report and tell them that it takes a day.") == [
        ("apologise", when),
        ("create a report", when),
        ("tell them that it takes a day", when),
    ]
    assert steps("Never open doors and give keys away.") == [("not open doors and give keys away", "")]
    assert steps("Open a ticket, and promise nothing.") == [
        ("Open a ticket", ""),
        ("not promise anything", ""),
    ]
    assert steps("Make sure not to name a price.") == [("not name a price", "")]


def test_every_part_of_a_list_means_its_tool() -> None:
    named = ("freeze_account", "close_account", "send_letter", "list_payments")
    tools = [ToolSpec(name=name, description="", parameters={"type": "object"}) for name in named]
    box = open_toolbox(tools)
    assert box.tools_for("close an account or list someone's payments") == ("close_account", "list_payments")
    assert box.tools_for("freeze or close an account") == ("freeze_account", "close_account")
    assert set(box.tools_for("freeze an account, list payments and send a letter")) == set(named) - {
        "close_account"
    }


@pytest.mark.parametrize(
    ("phrase", "said"),
    [
        ("tell them to call 0800 111 999 at once", "Please call 0800 111 999 at once."),
        ("tell them not to touch it", "Please do not touch it."),
        ("tell them about the fee of 9.50 francs", "Please note the fee of 9.50 francs."),
        ("mention that keys cost 9 francs", "Keys cost 9 francs."),
        ("point out that we close at 5 pm", "We close at 5 pm."),
        ("ask them whether they are alone", "Could you tell me whether you are alone?"),
        ("give the phone number 044 555 01 20", "Here is the phone number 044 555 01 20."),
        ("refer them to the hotline 0800 22", "Please turn to the hotline 0800 22."),
        ('tell them that the sign says "Ask them twice"', 'The sign says "Ask them twice".'),
    ],
)
def test_numbers_and_quotations_are_said_as_they_stand(phrase: str, said: str) -> None:
    assert rendered(phrase) == said


def test_a_number_in_what_is_said_is_no_condition() -> None:
    assert steps("Tell them that returns within 30 days are free.")[0][1] == ""


def test_a_form_can_have_a_condition_and_a_step_beside_it() -> None:
    (rule,) = read('If somebody is angry, say "I see" and open a ticket.')
    assert rule.form is not None
    assert (rule.form.include, rule.when and rule.when.text) == ("I see", "somebody is angry")
    assert [clause.phrase for clause in rule.clauses] == ["open a ticket"]


def test_not_knowing_is_a_condition_of_its_own() -> None:
    for rule in (
        "If you don't know, ask a colleague.",
        "In doubt, ask a colleague.",
        "When unsure, ask a colleague.",
    ):
        (found,) = read(rule)
        assert found.when is not None
        assert found.when.alternatives[0][0].unknown


def test_advice_is_told_from_duty() -> None:
    assert [rule.clauses[0].firm for rule in read("- Tell them to sit.\n- You may tell them to sit.")] == [
        True,
        False,
    ]
    (rule,) = read("New members may be told to bring a towel.")
    assert rule.modality is Modality.MAY


def test_numbered_rules_and_tagged_ones_are_read_alike() -> None:
    numbered = "1. Lost key: open a ticket. Don't charge anything.\n2. Be brief."
    tagged = "<rules>\n<rule>Lost key: open a ticket. Don't charge anything.</rule>\n<rule>Be brief.</rule>\n</rules>"
    assert steps(numbered) == steps(tagged)
    assert steps(numbered)[1] == ("not charge anything", "Lost key")
