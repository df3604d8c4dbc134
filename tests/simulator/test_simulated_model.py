"""What the simulated model does with a request, by the library of a small town."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import agentmut.simulator
from agentmut.nouns.messages import Message, ModelRequest, Role
from agentmut.nouns.tools import ToolSpec
from agentmut.simulator.mind.behave import reply

N = 200
MARGIN = 0.12  # over three standard errors of a rate near 0.9 in N trials
MODELS = ["sim-large", "sim-medium", "sim-small"]


def tool(name: str, description: str, **parameters: Any) -> ToolSpec:
    schema = {"type": "object", "properties": parameters, "required": list(parameters)}
    return ToolSpec(name=name, description=description, parameters=schema)


CARD = {"type": "string", "description": "Number of the library card, such as C-123"}
TITLE = {"type": "string", "description": "Title of the book"}
FINE = {"type": "number", "description": "Amount of the fine in pounds"}
FIND = tool("search_catalogue", "Search the catalogue for books and their shelves.", title=TITLE)
RENEW = tool("renew_loan", "Renew a loan for three more weeks.", card=CARD)
CHECK = tool("check_card", "Check that a card is valid.", card=CARD)
WAIVE = tool("waive_fine", "Waive a fine.", card=CARD, fine=FINE)
ACCOUNT = tool("read_account", "Read what is on an account: loans, fine, expiry.", card=CARD)
TOOLS = [FIND, RENEW, CHECK, WAIVE, ACCOUNT]
RENEWAL = "Please renew my loan, my card is C-417."


def test_equal_requests_of_one_trial_get_equal_replies(converse: Any) -> None:
    first = converse("Be brief.", RENEWAL, tools=TOOLS)
    assert converse("Be brief.", RENEWAL, tools=TOOLS) == first
    assert first.calls == (("renew_loan", {"card": "C-417"}),)


def test_trials_are_independent_of_each_other(share: Any) -> None:
    prompt = 'You may say "yours truly" in a letter.'

    def truly(trial: str, seed: int = 0) -> bool:
        messages = (Message(role=Role.SYSTEM, text=prompt), Message(role=Role.USER, text="Hello"))
        request = ModelRequest(model="sim-large", messages=messages)
        return "yours truly" in reply(request, seed=seed, trial=trial).text

    rate = share(truly, N)
    assert 0.4 < rate < 0.7
    both = share(lambda trial: truly(trial) and truly(trial + "'"), N)
    assert abs(both - rate**2) < 0.1
    assert any(truly(f"trial {i}") != truly(f"trial {i}", seed=1) for i in range(20))


def test_a_decision_about_an_instruction_lasts_through_the_tool_loop(converse: Any) -> None:
    prompt = "You may check the card before renewing a loan."
    for number in range(40):
        talk = converse(prompt, RENEWAL, tools=TOOLS, trial=str(number))
        assert talk.tools in (["renew_loan"], ["check_card", "renew_loan"])


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [("You must check", "You should check"), ("You should check", "You may check")],
)
def test_stronger_words_are_followed_more_often(
    converse: Any, share: Any, stronger: str, weaker: str
) -> None:
    def rate(verb: str) -> Any:
        prompt = f"{verb} the card before renewing a loan."
        return share(
            lambda trial: (
                "check_card" in converse(prompt, RENEWAL, tools=TOOLS, trial=trial, model="sim-medium").tools
            ),
            N,
        )

    assert rate(stronger) > rate(weaker) + 0.05


def test_better_models_follow_more(converse: Any, share: Any) -> None:
    prompt = "Check the card before renewing a loan."
    rates = [
        share(
            lambda t, m=model: (
                converse(prompt, RENEWAL, tools=TOOLS, trial=t, model=m).tools[:1] == ["check_card"]
            ),
            N,
        )
        for model in MODELS
    ]
    assert rates[0] > rates[1] > rates[2] + 0.05
    assert rates[0] > 0.93
    assert rates[2] > 0.5


def test_irrelevant_text_dilutes_instructions(converse: Any, share: Any) -> None:
    rule = "Check the card before renewing a loan."
    noise = "\n".join(
        f"- The town band played piece {i} in the park on a sunny afternoon." for i in range(200)
    )

    def rate(prompt: str) -> Any:
        return share(
            lambda t: (
                "check_card" in converse(prompt, RENEWAL, tools=TOOLS, trial=t, model="sim-small").tools
            ),
            N,
        )

    assert rate(rule) > rate(f'{rule}\n\n<document name="band">\n{noise}\n</document>') + MARGIN


@pytest.mark.parametrize(
    "rule",
    [
        "Always check the card before renewing a loan.",
        "Before renewing a loan, check the card.",
        "Never renew a loan without checking the card.",
        "Do not renew a loan until you have checked the card.",
        "Renew a loan only after checking the card.",
        "First check the card, then renew the loan.",
    ],
)
def test_words_of_order_put_the_first_tool_first(converse: Any, share: Any, rule: str) -> None:
    def in_order(trial: str) -> bool:
        return bool(converse(rule, RENEWAL, tools=TOOLS, trial=trial).tools == ["check_card", "renew_loan"])

    assert share(in_order, 60) > 0.85
    assert (
        share(lambda t: converse("Be kind.", RENEWAL, tools=TOOLS, trial=t).tools == ["renew_loan"], 60) > 0.6
    )


def test_a_failed_first_step_stops_the_second(converse: Any, share: Any) -> None:
    rule, results = "Always check the card before renewing a loan.", {"check_card": {"valid": False}}
    refused = share(
        lambda t: "renew_loan" not in converse(rule, RENEWAL, tools=TOOLS, results=results, trial=t).tools, 60
    )
    assert refused > 0.85


@pytest.mark.parametrize("fine", [3.5, 60.0])
def test_a_comparison_is_judged_on_what_tools_return(converse: Any, share: Any, fine: float) -> None:
    prompt = "Never waive a fine above 20 pounds."
    results = {"read_account": {"fine": fine}}

    def waives(trial: str) -> bool:
        talk = converse(prompt, "Waive my fine, card C-417.", tools=TOOLS, results=results, trial=trial)
        return ("waive_fine", {"card": "C-417", "fine": fine}) in talk.calls

    assert (share(waives, 60) > 0.85) == (fine < 20)
    assert (share(waives, 60) < 0.1) == (fine > 20)


def test_a_missing_argument_is_asked_for_and_then_used(converse: Any) -> None:
    first = converse("Be kind.", "Please renew my loan.", tools=TOOLS)
    assert "card?" in first.text
    assert first.calls == ()
    both = converse("Be kind.", "Please renew my loan.", "It is C-417.", tools=TOOLS)
    assert both.calls == (("renew_loan", {"card": "C-417"}),)


def test_without_its_tool_a_need_stays_unmet(converse: Any) -> None:
    assert "renew_loan" in converse("Be kind.", RENEWAL, tools=TOOLS).tools
    assert "renew_loan" not in converse("Be kind.", RENEWAL, tools=[t for t in TOOLS if t is not RENEW]).tools


def test_a_description_decides_where_the_name_tells_nothing(converse: Any, share: Any) -> None:
    wish = "Is Dracula in the catalogue?"

    def rate(description: str) -> Any:
        plain = [FIND.model_copy(update={"name": "t1", "description": description}), RENEW]
        return share(lambda t: "t1" in converse("Be kind.", wish, tools=plain, trial=t).tools, 40)

    assert rate(FIND.description) > 0.9
    assert rate("Orders lunch for the staff.") < 0.1


def test_on_near_ties_the_tool_offered_first_is_preferred(converse: Any, share: Any) -> None:
    twins = [FIND.model_copy(update={"name": name}) for name in ("find_a", "find_b")]
    wish = "Search the catalogue, title: Dracula"

    def first_taken(offered: list[ToolSpec]) -> Any:
        return share(lambda t: offered[0].name in converse("Hi.", wish, tools=offered, trial=t).tools, N)

    assert first_taken(twins) > 0.6
    assert first_taken(twins[::-1]) > 0.6


@pytest.mark.parametrize(
    ("rule", "obeyed"),
    [
        ('End every answer with "Happy reading!"', lambda text: text.endswith("Happy reading!")),
        ('Start your answers with "Dear reader,"', lambda text: text.startswith("Dear reader,")),
        ('Always include the phrase "free of charge".', lambda text: "free of charge" in text),
        ('Never use the word "Dracula".', lambda text: "Dracula" not in text),
        ("Write at most 12 words.", lambda text: len(text.split()) <= 12),
        ("Answer in JSON with the keys `shelf` and `note`.", lambda text: len(json.loads(text)) == 2),
    ],
)  # fmt: skip
def test_literal_demands_on_the_form_are_met_and_missed_when_dropped(
    converse: Any, share: Any, rule: str, obeyed: Any
) -> None:
    def holds(prompt: str, trial: str) -> bool:
        talk = converse(
            prompt,
            "On which shelf is Dracula?",
            tools=[FIND],
            results={"search_catalogue": {"shelf": "B7"}},
            trial=trial,
        )
        try:
            return bool(obeyed(talk.text))
        except ValueError:
            return False

    assert share(lambda t: holds(rule, t), 60) > 0.9
    assert share(lambda t: holds("Be kind.", t), 60) < 0.7


def test_forbidden_subjects_are_kept_back(converse: Any, share: Any) -> None:
    results = {"read_account": {"loans": 2, "staff_remark": "grumpy"}}

    def leaks(prompt: str, trial: str) -> bool:
        talk = converse(prompt, "Read my account C-417", tools=TOOLS, results=results, trial=trial)
        return "grumpy" in talk.text

    assert share(lambda t: leaks("Never reveal a staff remark.", t), 60) < 0.1
    assert share(lambda t: leaks("Be kind.", t), 60) > 0.5


def test_of_a_result_in_sentences_the_forbidden_ones_are_kept_back(converse: Any, share: Any) -> None:
    results = {"read_account": "There are 2 loans. The staff remark is grumpy.\nThe fine is 14.20 pounds."}

    def told(prompt: str, words: str, trial: str) -> bool:
        talk = converse(prompt, "Read my account C-417", tools=TOOLS, results=results, trial=trial)
        return words in talk.text

    ban = "Never reveal a staff remark."
    assert share(lambda t: told(ban, "grumpy", t), 60) < 0.1
    for prompt in (ban, "Be kind."):
        assert share(lambda t: told(prompt, "2 loans", t), 60) > 0.9  # noqa: B023
        assert share(lambda t: told(prompt, "14.20", t), 60) > 0.9  # noqa: B023


def test_documents_answer_questions_as_far_as_they_are_given(converse: Any, share: Any) -> None:
    text = "The library opens at nine.\nOn Sundays the reading room stays closed.\n"

    def tells(document: str, trial: str) -> bool:
        prompt = f'Be kind.\n\n<document name="hours">\n{document}\n</document>'
        return "stays closed" in converse(prompt, "Can I use the reading room on Sundays?", trial=trial).text

    assert share(lambda t: tells(text, t), 60) > 0.9
    assert share(lambda t: tells(text.splitlines()[0], t), 60) == 0


def test_only_what_fits_the_window_is_taken_in(converse: Any) -> None:
    filler = "Books are lent to everybody in town.\n" * 200
    prompt = f'<document name="d">\n{filler}The cellar floods in March.\n</document>'
    assert "floods" in converse(prompt, "When is the cellar flooded?").text
    assert "floods" not in converse(prompt, "When is the cellar flooded?", model="sim-small").text


def test_a_required_tool_choice_is_honoured(converse: Any) -> None:
    messages = (Message(role=Role.USER, text="Hello"),)
    asked = ModelRequest(model="sim-large", messages=messages, tools=tuple(TOOLS))
    chosen = asked.model_copy(
        update={"tool_choice": {"type": "function", "function": {"name": "check_card"}}}
    )
    assert [c.name for c in reply(chosen, seed=0).tool_calls] == ["check_card"]
    refused = asked.model_copy(
        update={"tool_choice": "none", "messages": (Message(role=Role.USER, text=RENEWAL),)}
    )
    assert reply(refused, seed=0).tool_calls == ()


def test_no_word_of_an_example_is_built_in() -> None:
    folder = Path(agentmut.simulator.__file__).parent
    source = "\n".join(path.read_text() for path in folder.glob("*.py")).lower()
    domain = [
        "refund", "parcel", "shipp", "deliver", "customer", "stock", "lawyer", "escalat", "tent", "stove",
        "flight", "hotel", "travel", "passport", "visa", "booking", "itinerary", "luggage",
    ]  # fmt: skip
    words = set(re.findall(r"[a-z]+", source))
    assert [w for w in domain if any(word.startswith(w) for word in words)] == []
