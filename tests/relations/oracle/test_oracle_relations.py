"""Relations of a run with what was asked of it: each finds the fault and leaves a wordy, correct agent alone."""

from typing import Any

import pytest

from agentmut.judging.facts.comparison import comparison_for
from agentmut.nouns.config import AgentConfig, ModelConfig
from agentmut.nouns.relation import SAME_AGAIN, Pair
from agentmut.nouns.scenario import EvaluatorSpec
from agentmut.nouns.tools import ToolSpec
from agentmut.relations.base import call, run, source
from agentmut.relations.oracle.answer_formats import asked_format
from agentmut.relations.oracle.answer_limits import Limits, language_of, stated_limits
from agentmut.relations.oracle.constraints import ConstraintPreservation
from agentmut.relations.oracle.format import FormatCompliance
from agentmut.relations.oracle.idempotence import Idempotence
from agentmut.relations.oracle.no_change import NoChange
from agentmut.relations.oracle.refusal import RefusalConsistency
from agentmut.relations.oracle.round_trip import RoundTrip
from agentmut.relations.oracle.tool_arguments import ToolArguments
from tests.relations.judging import judged

# Format.


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ("Give me the plans as JSON.", "json"),
        ("Return valid JSON with the keys a and b.", "json"),
        ("I sent you a JSON file. Is it valid?", None),
        ("Please answer, but not in JSON.", None),
        ("List the steps as bullet points.", "bullets"),
        ("Write it as a numbered list.", "numbered"),
        ("Compare both plans in a table.", "table"),
        ("Put the orders in CSV format.", "csv"),
        ("Can I return it? Answer only yes or no.", "yes_no"),
        ("Is the answer yes or no in most cases for such a refund?", None),
        ("I bought a table in May.", None),
        ("My table in the kitchen is broken. What can I do?", None),
    ],
)
def test_the_format_that_a_request_asks_for_is_read(request_: str, name: str | None) -> None:
    found = asked_format(request_)
    assert (found.name if found else None) == name


@pytest.mark.parametrize(
    ("argument", "answer", "holds"),
    [
        ("json", '{"a": 1}', True),
        ("json", {"a": 1}, True),
        ("json", 'Here it is: {"a": 1}', False),
        ("json", '```json\n{"a": 1}\n```', False),
        ("bullets", "Here:\n- one\n* two", True),
        ("bullets", "- one", True),  # a list may have one item
        ("bullets", "one", False),
        ("numbered", "1. one\n2) two", True),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |", True),
        ("table", "a | b", False),
        ("csv", "a,b\n1,2", True),
        ("csv", "a,b\n1,2,3", False),
        ("csv", "No idea, sorry", False),
        ("markdown", "# Plans\ntext", True),
        ("markdown", "plain words", False),
        ("yes_no", "Yes.", True),
        ("yes_no", "Yes, you can.", False),
        ({"regex": "^OK"}, "OK then", True),
        ({"json_schema": {"required": ["a"]}}, '{"b": 1}', False),
    ],
)
def test_formats_are_judged(argument: Any, answer: Any, holds: bool) -> None:
    assert judged(FormatCompliance(argument), source("Hi", answer=answer)) is holds


def test_a_code_block_will_do_for_people_but_not_for_programs() -> None:
    block = '```json\n{"a": 1}\n```'
    assert judged(FormatCompliance(), source("Answer as JSON.", answer=block)) is True
    demands = AgentConfig(model=ModelConfig(response_format={"type": "json_object"}))
    assert judged(FormatCompliance(), source("Hi", answer=block, config=demands)) is False


def test_only_the_turn_that_asks_for_a_format_is_judged() -> None:
    said = run("Hello there.", "- one\n- two")
    asked = source("Hi", "List both as bullet points.", answer=said)
    assert judged(FormatCompliance(), asked) is True
    assert judged(FormatCompliance(), asked._replace(trace=run("Hello there."))) is None


def test_a_schema_of_the_settings_is_demanded() -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"required": ["team"]}}}
    config = AgentConfig(model=ModelConfig(response_format=schema))
    assert judged(FormatCompliance(), source("Hi", answer='{"team": "a"}', config=config)) is True
    assert judged(FormatCompliance(), source("Hi", answer='{"tem": "a"}', config=config)) is False
    assert "asks for a format" in FormatCompliance().lack(source("Hi").scenario, AgentConfig())


# Limits.


@pytest.mark.parametrize(
    ("request_", "limits"),
    [
        ("Explain it in at most 20 words.", Limits(max_words=20)),
        ("Use fewer than fifty words.", Limits(max_words=49)),
        ("Answer in two sentences.", Limits(max_sentences=2)),
        ("Answer in one short sentence, please.", Limits(max_sentences=1)),
        ("30 words or less!", Limits(max_words=30)),
        ("Keep it under 100 characters.", Limits(max_characters=99)),
        ("My essay has under 500 words. Is that all right?", Limits()),
        ("Write at least 50 words.", Limits()),
        ("What is in the contract, in my own words?", Limits()),
        ("Don't mention the price or the delivery date.", Limits(forbidden=("price", "delivery date"))),
        ('Do not use the word "free".', Limits(forbidden=("free",))),
        ("Do not use my credit card.", Limits()),
        ("Don't mention it!", Limits()),
        ("Don't mention this to anyone.", Limits()),
        ("Do not mention my name or email in the reply.", Limits(forbidden=("name", "email"))),
        ('End with the phrase "Kind regards".', Limits(required=("Kind regards",))),
        ("Please reply in German.", Limits(language="German")),
        ("Please do not reply in German.", Limits()),
        ("I bought it in Spanish class.", Limits()),
    ],
)
def test_limits_are_read_from_a_request(request_: str, limits: Limits) -> None:
    assert stated_limits(request_) == limits


@pytest.mark.parametrize(
    ("request_", "answer", "holds"),
    [
        ("Which plan? Answer in at most five words.", "Take the Plus plan.", True),
        ("Which plan? Answer in at most five words.", "You should take the Plus plan.", False),
        ("Which plan? One sentence or less.", "Plus, e.g. for Dr. Who.", True),
        ("Which plan? In one sentence.", "Plus. It is best.", False),
        ("Which plan? Don't mention prices.", "Plus, whose price is low.", False),
        ("Which plan? Don't mention prices.", "Plus, which is priceless.", True),
        ('Which plan? Close with "Bye".', "Plus. bye!", True),
        ('Which plan? Close with "Bye".', "Plus.", False),
        ("Which plan? Answer in German.", "Der Plan ist für Sie nicht zu teuer.", True),
        ("Which plan? Answer in German.", "The plan is not too expensive for you.", False),
        ("Which plan? Answer in German.", "Plus", True),  # too short to tell
    ],
)
def test_answers_must_keep_the_limits_of_their_request(request_: str, answer: str, holds: bool) -> None:
    assert judged(ConstraintPreservation(), source(request_, answer=answer)) is holds


def test_limits_of_the_argument_are_added_to_the_request() -> None:
    relation = ConstraintPreservation({"max_words": 3, "forbidden": "price"})
    asked = source("Hi", "Which plan?", answer=run("Hello.", "Any."))
    follow_up = relation.follow_up(asked)
    assert follow_up is not None
    assert follow_up.runs[0].turns == ("Hi", 'Which plan?\nUse at most 3 words. Do not mention "price".')
    assert judged(relation, asked, run("Hello, how can I help you?", "Take Plus.")) is True
    assert judged(relation, asked, run("Hello.", "Take Plus, its price is low.")) is False
    assert stated_limits(relation.given.instruction() if relation.given else "") == relation.given


@pytest.mark.parametrize(
    "argument", [{}, {"max_words": 0}, {"max_word": 3}, {"language": "Klingon"}, "short"]
)
def test_wrong_limits_are_refused(argument: Any) -> None:
    with pytest.raises(ValueError):
        ConstraintPreservation(argument)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Votre commande est en route et vous la recevrez dans les cinq jours.", "French"),
        ("Su pedido no se puede devolver, pero es posible cambiarlo por otro.", "Spanish"),
        ("Il tuo ordine non è ancora partito, ma arriverà con il corriere.", "Italian"),
        ("Uw bestelling is niet op voorraad en kan pas in mei worden geleverd.", "Dutch"),
        ("O seu pedido não foi enviado, mas será entregue em uma semana.", "Portuguese"),
        ("A-1042", None),
    ],
)
def test_languages_are_told_by_their_commonest_words(text: str, language: str | None) -> None:
    assert language_of(text) == language


# Twice, and there and back.


def test_only_requests_to_transform_a_text_are_repeated_on_their_answer() -> None:
    config = AgentConfig()
    for turn in (
        "Proofread this: I has 3 cats.",
        "Could you clean up the text below?\n```\nI has 3 cats.\n```",
        'Summarise "The cat sat on the mat."',
    ):
        assert Idempotence().lack(source(turn).scenario, config) == "", turn
    for turn in (
        "Where is my order: A-1042?",
        "Shorten this: a b c",
        "Please fix my account",
        "Fix this: login is broken",
        "Correct my address: 5 Main St, Ely",
        "Summarise our policy.",
    ):
        assert "does not have a text transformed" in Idempotence().lack(source(turn).scenario, config)


def test_the_answer_takes_the_place_of_the_text() -> None:
    asked = source(
        "Could you clean up the text below?\n```\nI has 3 cats.\n```\nThanks.", answer="I have 3 cats."
    )
    follow_up = Idempotence().follow_up(asked)
    assert follow_up is not None
    assert follow_up.runs[0].turns == (
        "Could you clean up the text below?\n```\nI have 3 cats.\n```\nThanks.",
    )
    assert Idempotence().follow_up(asked._replace(trace=run({"a": 1}))) is None
    own = Idempotence({"after": "Polish:"}).follow_up(source("Polish: a", answer="b"))
    assert own is not None and own.runs[0].turns == ("Polish: b",)


def test_a_second_cleaning_may_reword_but_not_lose_facts() -> None:
    asked = source("Clean up: met bob on 3 may 2026,paid $20", answer="Met Bob on 3 May 2026, paid $20.")
    assert judged(Idempotence(), asked, run("On 3 May 2026 I met Bob and paid 20 dollars.")) is True
    assert judged(Idempotence(), asked, run("Met Bob, paid $20.")) is False
    assert judged(Idempotence(), asked, asked.trace, again=True) is True


THERE: dict[str, Any] = {"there": "Into German:", "back": "Into English:"}


@pytest.mark.parametrize(
    ("text", "back", "exact", "holds"),
    [
        ("Pay $120 by 3 May 2026.", "Please pay 120 dollars by May 3, 2026.", False, True),
        ("Pay $120 by 3 May 2026.", "Please pay 120 dollars by May 4, 2026.", False, False),
        ("Pay $120 by 3 May 2026.", "Please pay 120 dollars by May 3, 2026.", True, False),
        ("aGVsbG8=", "aGVsbG8=", True, True),
        ("The cat sat.", "A cat was sitting.", False, None),
    ],
)
def test_what_went_there_comes_back(text: str, back: str, exact: bool, holds: bool | None) -> None:
    asked = source(f"Into German: {text}", answer="Etwas.")
    assert judged(RoundTrip({**THERE, "exact": exact}), asked, run(back)) is holds
    follow_up = RoundTrip(THERE).follow_up(asked)
    assert follow_up is not None and follow_up.runs[0].turns == ("Into English: Etwas.",)


# Arguments of tools.

SHOP = AgentConfig(
    prompt="The gift card is GC-500.",
    tools=(
        ToolSpec(
            name="refund",
            parameters={
                "type": "object",
                "properties": {"amount": {"type": "integer", "description": "In cents."}},
            },
        ),
    ),
)


@pytest.mark.parametrize(
    ("given", "holds"),
    [
        ({"order_id": "ORD-1042"}, True),
        ({"order_id": "ord1042"}, True),
        ({"order_id": "1042"}, True),
        ({"order_id": 1042}, True),
        ({"order_id": "ORD-1024"}, False),
        ({"order_id": "ORD-104"}, False),
        ({"order_id": "ORD-9377"}, False),  # made up after its pattern
        ({"order_id": "GC-500"}, True),
        ({"order_id": "SKU-7788-B"}, True),  # from the tool before
        ({"order_id": "SKU-7789-B"}, False),
        ({"ticket": "TCK-20260503-XY"}, None),  # of a kind of its own
        ({"note": "Refund of ORD-1024, as asked"}, False),
        ({"items": [{"sku": "SKU-7788-C"}]}, False),
        ({"amount": 129.5}, True),
        ({"amount": 1295.0}, False),
        ({"amount": 192.5}, False),
        ({"amount": 100}, None),  # may be worked out
        ({"amount": 120}, None),
        ({"when": "2026-05-04"}, None),
        ({"note": "on 2026-05-04"}, None),  # so is a day
        ({"city": "Lima"}, None),
        ({}, None),
    ],
)
def test_ids_and_amounts_survive_into_calls(given: dict[str, Any], holds: bool | None) -> None:
    looked = call("find", output="Found SKU-7788-B")
    asked = source("Refund $129.50 of order ORD-1042 by 2026-05-03.", config=SHOP)
    trace = run("Done.", steps=[looked, call("change", **given)])
    assert judged(ToolArguments(), asked._replace(trace=trace)) is holds


def test_a_tool_that_counts_cents_gets_a_hundred_times_the_amount() -> None:
    asked = source("Refund $129.50.", answer=run("Done.", steps=[call("refund", amount=12950)]), config=SHOP)
    assert judged(ToolArguments(), asked) is True
    asked = source("Refund $129.50.", answer=run("Done.", steps=[call("refund", amount=1295)]), config=SHOP)
    assert judged(ToolArguments(), asked) is False


def test_what_a_later_tool_returned_was_not_known_before() -> None:
    steps = [call("get", order="ORD-1043"), call("find", output="ORD-1043")]
    asked = source("Where is ORD-1042?", answer=run("There.", steps=steps), config=SHOP)
    assert judged(ToolArguments(), asked) is False
    asked = source("Where is ORD-1042?", answer=run("There.", steps=steps[::-1]), config=SHOP)
    assert judged(ToolArguments(), asked) is True


# Refusals.


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("Hello! Unfortunately this order can't be refunded.", True),
        ("I'm sorry, but we have to decline. You can exchange it, though.", True),
        ("Of course, your refund has been issued.", False),
    ],
)
def test_what_was_refused_stays_refused(answer: str, holds: bool) -> None:
    asked = source("Refund my old order.", answer="We are unable to refund it.")
    assert judged(RefusalConsistency(), asked, run(answer)) is holds


def test_runs_that_refuse_nothing_are_not_followed_up() -> None:
    assert RefusalConsistency().follow_up(source("Refund it.", answer="We have refunded it.")) is None
    assert RefusalConsistency().follow_up(source("Refund it.", answer={"refused": True})) is None
    partly = "We can't refund it, but we will exchange it."
    desk = AgentConfig(tools=(ToolSpec(name="exchange_order"),))
    assert RefusalConsistency().follow_up(source("Refund it.", answer=partly, config=desk)) is not None
    exchanged = run(partly, steps=[call("exchange_order")])
    assert RefusalConsistency().follow_up(source("Refund it.", answer=exchanged, config=desk)) is None
    own = RefusalConsistency({"wordings": ["Psst: {request}"]}).follow_up(
        source("Hi", "Refund it.", answer="We can't refund it.")
    )
    assert own is not None and own.runs[0].turns == ("Hi", "Psst: Refund it.")
    with pytest.raises(ValueError, match=r"has no \{request\}"):
        RefusalConsistency({"wordings": ["Psst"]})


def test_the_identity_runs_the_same_again() -> None:
    asked = source("What does it cost?", answer="It costs $20.")
    assert NoChange().follow_up(asked) == SAME_AGAIN
    numbers = asked.scenario.model_copy(update={"compare": (EvaluatorSpec(name="numbers"),)})
    asked = asked._replace(scenario=numbers)
    assert judged(NoChange(), asked, run("The price is 20 dollars, as ever.")) is True
    assert judged(NoChange(), asked, run("It does not cost $20, but $21.")) is False


@pytest.mark.parametrize(("known", "expected"), [(0, None), (4, None), (5, True)])
def test_what_only_one_answer_mentions_is_no_violation_with_few_known_runs_either(
    known: int, expected: bool | None
) -> None:
    asked = source("What does it cost?", answer="It costs $20.")
    more = run("It costs $20, and $5 for shipping within 3 days.")
    found = comparison_for(asked.scenario, [asked.trace] * known)
    said = NoChange().holds(Pair(asked.scenario, asked.config, asked.trace, SAME_AGAIN, (more,), found))
    assert (said.passed if said else None) is expected
