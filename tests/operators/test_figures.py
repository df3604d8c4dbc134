"""Other numbers that somebody could believe, in prompts and in documents; expectations by hand."""

from importlib.metadata import entry_points

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.language.quantities.other_numbers import Deviation, Measure, measure, other_number
from agentmut.language.quantities.stated_facts import facts
from agentmut.language.quantities.units import plural_of
from agentmut.language.vocabulary.neighbours import is_number
from agentmut.language.vocabulary.number_words import value_of, word_of
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig, Document
from agentmut.operators.context.values import restated
from agentmut.seams.protocols.operator import Operator, OperatorOptions

OPERATORS: dict[str, Operator] = {
    name: entry.load()()
    for entry in entry_points(group="agentmut.operators")
    if (name := entry.name) in ("prompt.change_number", "prompt.drop_output_format")
    or name.startswith("context.")
}


def prompts(text: str, operator: str = "prompt.change_number") -> list[str]:
    config = AgentConfig(prompt=text)
    made = generate(config, [OPERATORS[operator]], OperatorOptions()).mutants
    return [mutant.apply(config).prompt for mutant in made]


def documents(id_: str, text: str) -> list[str]:
    config = AgentConfig(context=(Document(name="d", text=text),))
    made = generate(config, [OPERATORS[f"context.{id_}"]], OperatorOptions()).mutants
    return [mutant.apply(config).context[0].text for mutant in made]


# Number words


@given(st.integers(2, 99))
@settings(max_examples=60, deadline=None)
def test_a_number_in_words_is_read_as_it_is_written(number: int) -> None:
    said = word_of(number)
    assert value_of(said) == number and is_number(said)
    assert prompts(f"Wait {said} days.")
    assert len([*facts(f"Wait {said} days.")]) == 1


@pytest.mark.parametrize("number", [-1, 1000])
def test_other_numbers_have_no_words(number: int) -> None:
    assert word_of(number) == ""


@pytest.mark.parametrize(
    "said", ["", "often", "hundred", "seven-teen", "twenty-eleven", "one-one", "twenty-one-two"]
)
def test_what_is_no_number_below_a_hundred_has_no_value(said: str) -> None:
    assert value_of(said) is None


def test_a_length_in_any_number_word_is_an_output_format() -> None:
    assert prompts("Label it.\nAnswer in seven sentences.\n", "prompt.drop_output_format") == ["Label it.\n"]


# What is plausible


@pytest.mark.parametrize(
    ("before", "near", "far"),
    [
        ("Wait seventy days.", "Wait seventy-one days.", "Wait one hundred and forty days."),
        ("Wait Eleven days.", "Wait Twelve days.", "Wait Twenty-two days."),
        ("Ask twenty five questions.", "Ask twenty-six questions.", "Ask fifty questions."),
        ("See anyone above 39.4 °C.", "See anyone above 40.4 °C.", "See anyone above 44.4 °C."),
        ("Heat it above 38 C today.", "Heat it above 39 C today.", "Heat it above 43 C today."),
        ("Report a fever over 38.5.", "Report a fever over 39.5.", "Report a fever over 43.5."),
        ("Refuse drivers older than 65.", "Refuse drivers older than 66.", "Refuse drivers older than 75."),
        ("Sell to guests over 18 only.", "Sell to guests over 19 only.", "Sell to guests over 28 only."),
        ("They must be 16 years old.", "They must be 17 years old.", "They must be 26 years old."),
        ("Delete mail older than 30 days.", "Delete mail older than 31 days.", "Delete mail older than 300 days."),
        ("Use a scale from 1 to 10.", "Use a scale from 1 to 11.", "Use a scale from 1 to 20."),
        ("Offer 4-star hotels.", "Offer 5-star hotels.", "Offer 8-star hotels."),
        ("Round it to two decimals.", "Round it to three decimals.", "Round it to four decimals."),
        ("Keep scores above 3.5 only.", "Keep scores above 4.5 only.", "Keep scores above 7.0 only."),
        ("Keep scores above 0.9 only.", "Keep scores above 0.8 only.", "Keep scores above 0.4 only."),
        ("Ship up to 2.5 kg.", "Ship up to 3.5 kg.", "Ship up to 5.0 kg."),
        ("Give 15% off.", "Give 16% off.", "Give 1.5% off."),
        ("Give 100% off.", "Give 99% off.", "Give 10% off."),
        ("Reply within 24 hours.", "Reply within 25 hours.", "Reply within 240 hours."),
        ("Give 24-hour notice.", "Give 25-hour notice.", "Give 240-hour notice."),
        ("Add 2.50 euros.", "Add 3.50 euros.", "Add 25.00 euros."),
        ("Set the temperature to 0.2.", "Set the temperature to 0.3.", "Set the temperature to 0.1."),
        ("Keep the rate of 5 calls.", "Keep the rate of 6 calls.", "Keep the rate of 50 calls."),
        ("Up to 5 decisions are fine.", "Up to 6 decisions are fine.", "Up to 50 decisions are fine."),
    ],
)  # fmt: skip
def test_another_number_is_one_that_somebody_could_believe(before: str, near: str, far: str) -> None:
    assert prompts(before) == [near, far]


@pytest.mark.parametrize(
    "prompt",
    ["Use the 24-hour clock.", "Write times in 24 hour format.", "We are open 24 hours a day.", "Help 24/7.",
     "Use the 12-hour clock.", "Call two hundred and ten guests."],
)  # fmt: skip
def test_clocks_and_parts_of_larger_numbers_stay(prompt: str) -> None:
    assert prompts(prompt) == []


def test_of_a_part_and_its_whole_the_part_does_not_grow() -> None:
    assert prompts("Agree when 4 out of 5 agents agree.") == [
        "Agree when 3 out of 5 agents agree.",
        "Agree when 2 out of 5 agents agree.",
        "Agree when 4 out of 6 agents agree.",
        "Agree when 4 out of 10 agents agree.",
    ]


@pytest.mark.parametrize(
    "text", ["30 days", "200 euros", "twenty weeks", "39.4 °C", "15%", "3.5 kg", "4 stars"]
)
def test_prompts_and_documents_have_the_same_other_numbers(text: str) -> None:
    (fact,) = facts(f"Take {text}.")
    said = f"Take {text}."
    for other, prompt in zip((Deviation.NEAR, Deviation.FAR), prompts(said), strict=True):
        (start, end), after = restated(said, fact, other)
        assert f"{said[:start]}{after}{said[end:]}" == prompt


@given(
    st.decimals(0, 10_000, places=2),
    st.sampled_from(list(Measure)),
    st.sampled_from([Deviation.NEAR, Deviation.FAR]),
)
@settings(max_examples=60, deadline=None)
def test_another_number_is_another_one_and_not_negative(
    number: object, of: Measure, other: Deviation
) -> None:
    after = other_number(str(number), of, other)
    assert float(after) != float(str(number)) and float(after) >= 0


def test_the_nearest_words_say_what_is_measured() -> None:
    text = "Patients aged 18 to 65 pay $20 (5%) for 30 minutes at 38 C."
    places = {number: text.index(number) for number in ("65", "20", "5%", "30", "38")}
    places["5%"] = text.index("(5%") + 1
    found = {number: measure(text, at, at + len(number.rstrip("%"))) for number, at in places.items()}
    assert found == {
        "65": Measure.AGE, "20": Measure.MONEY, "5%": Measure.SHARE, "30": Measure.COUNT,
        "38": Measure.TEMPERATURE,
    }  # fmt: skip


# One


@pytest.mark.parametrize(
    ("before", "near"),
    [
        ("Answer in one sentence.", "Answer in two sentences."),
        ("If more than one label fits, ask.", "If more than two labels fit, ask."),
        ("If there is more than one match, ask.", "If there are more than two matches, ask."),
        ("There is only one manager.", "There are only two managers."),
        ("If they name more than one, ask.", "If they name more than two, ask."),
        ("Make one tool call at a time.", "Make two tool calls at a time."),
        ("Only one order is open.", "Only two orders are open."),
        ("Return at most one category.", "Return at most two categories."),
        ("Use one short bullet point per finding.", "Use two short bullet points per finding."),
        ("Wait 1 day.", "Wait 2 days."),
    ],
)
def test_one_of_something_becomes_two(before: str, near: str) -> None:
    assert prompts(before)[0] == near


@pytest.mark.parametrize(
    "prompt",
    [
        "Take one of them.", "No one may see it.", "Help one another.", "This is the one to use.",
        "On the one hand, be kind.", "Ask one by one.", "From one year to the next, compare prices.",
        "One must be kind.", "Take one step back.", "Send one order number at a time.",
        "Only one refund per order is allowed.", "Pick the one label that fits.", "Use a one-time code.",
    ],
)  # fmt: skip
def test_one_that_counts_nothing_stays(prompt: str) -> None:
    assert prompts(prompt) == []


def test_what_a_limit_is_for_stays_one() -> None:
    limits = prompts("Make at most 12 calls for one request.")
    assert limits[0] == "Make at most 13 calls for one request."
    assert all(prompt.endswith("for one request.") for prompt in limits)


def test_units_have_their_plural() -> None:
    assert documents("corrupt_value", "It takes one try and one copy.") == [
        "It takes two tries and one copy.",
        "It takes four tries and one copy.",
        "It takes one try and two copies.",
        "It takes one try and four copies.",
    ]
    assert plural_of("box") == "boxes"


# What a document says of itself


@pytest.mark.parametrize(
    "line",
    ["Updated 3 March 2026.", "Last updated: 3 March 2026", "**Version** 2.1 of 3 May 2024", "© 2024 Acme",
     "Effective 1 May 2026", "Copyright 2024, Acme Ltd", "(c) 2024-05-01 Acme", "Page 2 of 5, May 2024"],
)  # fmt: skip
def test_what_a_document_says_of_itself_is_no_fact(line: str) -> None:
    text = f"{line}\n\nRefunds take 5 days.\n"
    assert documents("corrupt_value", text) == [
        f"{line}\n\nRefunds take 6 days.\n",
        f"{line}\n\nRefunds take 50 days.\n",
    ]
    assert documents("contradict_fact", text) == [f"Refunds take 6 days.\n\n{text}"]


def test_a_line_that_begins_alike_and_states_something_is_one() -> None:
    said = "Effective 1 May 2026, refunds take five days."
    assert f"{said[:-10]}six days." in documents("corrupt_value", said)
    assert documents("corrupt_value", "Page 2 has 3 steps.")
    assert documents("corrupt_value", "(c) Refunds take 5 days.")
    assert documents("corrupt_value", "Updated 3 March 2026. Refunds take 5 days.") == [
        "Updated 3 March 2026. Refunds take 6 days.",
        "Updated 3 March 2026. Refunds take 50 days.",
    ]


def test_an_older_version_says_so_of_itself() -> None:
    assert documents("stale_version", "Updated 3 March 2026.\nRefunds take 10 days.") == [
        "Updated 3 March 2024.\nRefunds take 5 days."
    ]
