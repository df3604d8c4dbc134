"""Numbers, words of order, scopes and clauses of instructions, and what operators make of them."""

import pytest

from tests.operators.worded import said


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Wait 5 days.", ["Wait 6 days.", "Wait 50 days."]),
        ("Wait for 30 days.", ["Wait for 31 days.", "Wait for 300 days."]),
        ("Refuse above 500 euros.", ["Refuse above 510 euros.", "Refuse above 5000 euros."]),
        ("Refuse above $1,000.", ["Refuse above $1,100.", "Refuse above $10,000."]),
        ("Refuse above $49.99.", ["Refuse above $50.99.", "Refuse above $499.90."]),
        ("Refuse scores below 0.8.", ["Refuse scores below 0.9.", "Refuse scores below 0.4."]),
        ("Give 5% off.", ["Give 6% off.", "Give 50% off."]),
        ("Give 20% off.", ["Give 21% off.", "Give 2% off."]),
        ("A 14-day window applies.", ["A 15-day window applies.", "A 140-day window applies."]),
        ("Send files up to 5MB.", ["Send files up to 6MB.", "Send files up to 50MB."]),
        ("Wait for 1 day.", ["Wait for 2 days.", "Wait for 10 days."]),
        ("Ask five questions.", ["Ask six questions.", "Ask ten questions."]),
        ("Two ideas are enough.", ["Three ideas are enough.", "Five ideas are enough."]),
        ("Ask only once.", ["Ask only twice.", "Ask only three times."]),
        ("Allow 0 errors.", ["Allow 1 errors.", "Allow 10 errors."]),
    ],
)
def test_a_number_changes_a_little_and_then_much(before: str, after: list[str]) -> None:
    assert said("change_number", before) == after


@pytest.mark.parametrize(
    "prompt",
    [
        "1. Ask early.",
        "Rules: 1. Ask early. 2. Look it up.",
        "We are open 24/7 and from 10:30 to 12.45.",
        "Use version 2.0 for A-1042.",
        "The policy of 2024 applies since May 5.",
        "See step 3, section 4.2 and rule 7.",
        "Use 3-5 sentences, 2024-05-01 and GPT-5.",
        "Dial 911 or +49 30 901820.",
        'Say "at most 5" and `retry(3)` in {max_5} cases.',
        "Meet at 5 pm on 3 March.",
        "Take Tram 8 and ask for order #42.",
        "Write SQL for PostgreSQL 15 or MySQL 8.",
        "Use two-factor codes.",
        "Item 1 is first.",
        "If two sources differ, say so.",
        "Never pay it twice.",
        "Cite it as Housing Act, s 21.",
        "Warte 30 Tage und frage nie nach der Nummer.",
    ],
)
def test_a_number_that_only_says_which_one_stays(prompt: str) -> None:
    assert said("change_number", prompt) == []


def test_only_the_first_two_numbers_of_an_instruction_change() -> None:
    assert len(said("change_number", "Ask 2 of 3 guests for 4 numbers.")) == 4


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Ask before you answer.", ["Ask after you answer."]),
        ("After asking, answer them.", ["Before asking, answer them."]),
        ("Ask for the number first.", ["Ask for the number."]),
        ("First, ask for the number.", ["Ask for the number."]),
        ("Ask for it, then look it up.", ["Ask for it, but first look it up."]),
        ("Ask for it and then answer.", ["Ask for it but first answer."]),
        ("Do not send it until you have asked.", ["Do not send it once you have asked."]),
        ("Once you have asked, send it.", ["Before you have asked, send it."]),
        ("Start with a greeting.", ["End with a greeting."]),
        ("Sort them in ascending order.", ["Sort them in descending order."]),
    ],
)
def test_words_of_order_are_turned_round(before: str, after: list[str]) -> None:
    assert said("swap_order_words", before) == after


@pytest.mark.parametrize(
    "prompt",
    [
        "Ask for the first name and the last name.",
        "Look after all guests.",
        "Ask at first.",
        "Close it after 30 days.",
        "Show orders of the last month.",
        "If it is late, then offer a coupon.",
        "Wait until Monday.",
        "Show before-tax totals.",
        "As before, be kind.",
        "First sentence: the news.",
        "Ask first, then look it up.",
        "Look it up before you say anything.",
        'Say "before you go" and `first`.',
        "Frage erst vor dem Versand nach der Nummer.",
    ],
)
def test_words_that_order_nothing_stay(prompt: str) -> None:
    assert said("swap_order_words", prompt) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Check all numbers.", ["Check most numbers.", "Check some numbers."]),
        ("Check all the numbers.", ["Check most of the numbers.", "Check some of the numbers."]),
        ("Check some numbers.", ["Check few numbers.", "Check all numbers."]),
        ("Check every number.", ["Check almost every number.", "Check the first number."]),
        ("Greet customers politely.", []),  # "customers politely" might be a name
        ("Greet the customer.", ["Greet the premium customer."]),
        ("Customers must pay.", ["Premium customers must pay."]),
        ("Help with requests.", ["Help with simple requests."]),
        ("Never share it with anyone.", ["Never share it with strangers."]),
        ("Take a ticket.", []),  # "a urgent"
        (
            "Serve eligible customers.",
            ["Serve customers."],
        ),
    ],
)
def test_scope_is_narrowed_or_widened(before: str, after: list[str]) -> None:
    assert said("change_scope", before) == after


@pytest.mark.parametrize(
    "prompt",
    [
        "Read the customer service page.",
        "Answer support requests.",
        "Ask for the customer's name.",
        "Not at all.",
        "Look after all.",
        "Check before booking a flight.",
        'Say "all customers" and `customer`.',
        "Call customer_lookup at once.",
        "Prüfe alle Kunden und frage nach dem Namen.",
    ],
)
def test_what_is_no_scope_stays(prompt: str) -> None:
    assert said("change_scope", prompt, "customer_lookup") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("If a parcel is late, offer a coupon.", ["Offer a coupon if a parcel is late."]),
        ("When a guest arrives, then greet the guest!", ["Greet the guest when a guest arrives!"]),
        ("Offer a coupon if the parcel is late.", ["If the parcel is late, offer a coupon."]),
        ("Verify the order before refunding anything.", ["Before refunding anything, verify the order."]),
        (
            "Always verify the order before refunding anything.",
            [
                "Before refunding anything, always verify the order.",
                "Make sure to always verify the order before refunding anything.",
            ],
        ),
        ("Never promise a refund.", ["You must never promise a refund."]),
        ("You must verify it.", ["You need to verify it."]),
        ("It must be short.", ["It needs to be short."]),
        ("They need to verify it.", ["They must verify it."]),
        ("Do not guess.", ["Don't guess."]),
        ("Don't guess.", ["Do not guess."]),
        ("You can't guess.", ["You cannot guess."]),
    ],
)
def test_a_clause_says_the_same_in_another_form(before: str, after: list[str]) -> None:
    assert said("paraphrase", before) == after


@pytest.mark.parametrize(
    "prompt",
    [
        "If it rains, snows, or storms, close the pool.",
        "If it is late, apologise and offer a coupon.",
        "If a guest asks, tell them.",  # "them" before "a guest"
        "Check if the order is late.",  # "whether"
        "Only refund it if the parcel is late.",
        "Ask when the parcel is due.",
        "Tell them to wait if the parcel is late.",
        "You must not share it.",
        "You must always ask.",
        "They hardly need it.",
        'Say "you must wait" if the guest asks.',
        "Wenn es spät ist, frage nach.",
    ],
)
def test_a_clause_that_could_change_its_meaning_stays(prompt: str) -> None:
    assert said("paraphrase", prompt) == []
