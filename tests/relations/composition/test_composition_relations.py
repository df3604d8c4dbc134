"""Relations between runs: each finds the agent that breaks it and leaves a wordy, correct one alone."""

import random
from typing import Any

import pytest

from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.mutant import apply_edits
from agentmut.nouns.tools import ToolSpec
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.relations.base import call, run, source
from agentmut.relations.composition.ask_again import ARE_YOU_SURE, AskAgain
from agentmut.relations.composition.pipeline import Pipeline
from agentmut.relations.composition.requests import depends, independent_requests
from agentmut.relations.composition.retry import Retry
from agentmut.relations.composition.split import MergeTurns, SplitRequest
from agentmut.relations.composition.substitute_agent import SubstituteAgent
from agentmut.relations.side_effects import changes_something
from tests.relations.judging import judged

# A message with several requests.


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("What does shipping cost, and how long does it take?", None),  # "it" is the shipping
        ("What does shipping cost, and how long do refunds take?",
         ("What does shipping cost?", "How long do refunds take?")),
        ("Two things:\n1. Cancel order A-1042.\n2. What are your hours?",
         ("Cancel order A-1042.", "What are your hours?")),
        ("Refund order A-1042. Then tell me when the money arrives.", None),
        ("Where is my parcel?", None),
        ("My parcel is late. I am angry.", None),
        ("Where is it? What are your hours?", None),
        ("Order A-1042 is late. What are your hours?", None),
        ("Which plan do I have? Find the customer ada@example.com.", None),
        ("Cancel order A-1042. How much do I get back?", None),
        ("Thank you! Have a nice day.", None),
        ("First name: Ivan. What does shipping cost?", None),
        ("Can you give a refund? How about a voucher?", None),
        ("Where is the parcel A-1042? Please cancel the parcel.", None),
        ("Who? What? Where? When? Why?", None),
        ("Do you ship to Peru? How much does shipping cost? Is express faster?", None),
        ("Do you ship to Peru? Are parcels to Chile possible, too?", None),
        ("Create a folder X1000. Upload report to X1000.", None),
        ("Is A-1007 shipped? Can you cancel A-1007?", None),
        ("Order A-1042 arrived broken. What are your hours?", None),
        ("Refund A-1007. Cancel A-1008.", ("Refund A-1007.", "Cancel A-1008.")),
    ],
)  # fmt: skip
def test_only_requests_that_stand_alone_are_split(message: str, asked: tuple[str, ...] | None) -> None:
    found = independent_requests(message)
    assert (found.asked if found else None) == asked


def test_what_a_message_tells_goes_with_each_request() -> None:
    asked = source("My order is A-1042. When does it arrive? Also, do you ship to Peru?")
    follow_up = SplitRequest().follow_up(asked)
    assert follow_up is not None
    assert [run.turns for run in follow_up.runs] == [
        ("My order is A-1042. When does it arrive?",),
        ("My order is A-1042. Do you ship to Peru?",),
    ]


def test_calls_that_only_one_of_the_split_runs_makes_count_for_all() -> None:
    asked = source(
        "What is the price of A-1042? When do you open on Monday?",
        answer=run("It is $20. We open at 9:00.", steps=[call("get_price", order="A-1042")]),
    )
    first, second = (
        run("The price is 20 dollars.", steps=[call("get_price", order="A-1042")]),
        run("At 9:00."),
    )
    assert judged(SplitRequest(), asked, first, second) is True
    assert judged(SplitRequest(), asked, run("The price is 20 dollars."), second) is False
    assert judged(SplitRequest(), asked, asked.trace, again=True) is True


def test_the_parts_can_be_said_for_one_scenario() -> None:
    relation = SplitRequest({"scenario": "example", "parts": ["Cancel A-1042.", "Cancel A-1043."]})
    asked = source("Cancel A-1042 and A-1043.")
    assert relation.lack(asked.scenario, asked.config) == ""
    other = asked.scenario.model_copy(update={"name": "other"})
    assert "'example'" in relation.lack(other, asked.config)
    with pytest.raises(ValueError, match="at least two"):
        SplitRequest({"scenario": "a", "parts": ["one"]})


@pytest.mark.parametrize(
    ("turns", "lack"),
    [
        (("What are your hours?",), "it has one turn"),
        (("Where is order A-1042?", "Cancel it."), "its turns speak of what was said before"),
        (("Cancel order A-1042.", "Yes, please."), "its turns speak of what was said before"),
        (("What are your hours?", "I like tea."), "not every turn of it asks something"),
        (({"a": 1}, "b"), "its turns are no plain text"),
        (("What are your hours?", "Do you ship to Peru?"), ""),
    ],
)
def test_turns_are_merged_where_none_leans_on_another(turns: tuple[Any, ...], lack: str) -> None:
    asked = source(*turns)
    assert MergeTurns().lack(asked.scenario, asked.config) == lack


def test_an_acceptance_depends_on_what_was_offered() -> None:
    assert depends("OK, go ahead") and not depends("What does shipping cost?")


# Asked again.


@pytest.mark.parametrize(
    ("first", "again", "holds"),
    [
        ("No, we cannot refund it.", "Yes, I am sure: it is not refundable.", True),
        ("No, we cannot refund it.", "You are right, we have refunded it.", False),
        ("It costs $20.", "As I said above.", True),
        ("It costs $20.", "Sorry, it costs $25.", False),
        ("It costs $20.", "It costs $20, and your order is A-1042.", True),  # the user's own number
        ("It arrives on 3 May 2026.", "I checked again. It arrives on 2026-05-03.", True),
        ("It arrives on 3 May 2026.", "I checked again. It arrives on 2026-05-04.", False),
        ("Hello.", "Hello again.", None),
    ],
)
def test_an_answer_may_be_worded_otherwise_but_not_change(first: str, again: str, holds: bool | None) -> None:
    asked = source("What of order A-1042?", answer=first)
    assert judged(AskAgain(), asked, run(first, again)) is holds


def test_what_a_tool_returned_may_be_added_when_asked_again() -> None:
    asked = source("What does it cost?", answer="It costs $20.")
    checked = call("get_price", output={"price": "$20", "shipping": "$4"}, turn=1)
    assert (
        judged(AskAgain(), asked, run("It costs $20.", "$20, plus $4 for shipping.", steps=[checked])) is True
    )
    assert (
        judged(AskAgain(), asked, run("It costs $20.", "$20, plus $9 for shipping.", steps=[checked]))
        is False
    )


def test_a_further_turn_that_was_not_answered_says_nothing() -> None:
    asked = source("What does it cost?", answer="It costs $20.")
    assert judged(AskAgain(), asked, run("It costs $30.")) is None


def test_chance_says_which_of_two_things_is_asked_again() -> None:
    asked = source("What does it cost?")
    seen = {
        follow_up.runs[0].turns
        for seed in range(20)
        if (follow_up := AskAgain().follow_up(asked._replace(rng=random.Random(seed))))
    }
    assert seen == {("What does it cost?", "What does it cost?"), ("What does it cost?", ARE_YOU_SURE)}
    own = AskAgain("Really?").follow_up(asked)
    assert own is not None and own.runs[0].turns == ("What does it cost?", "Really?")


# Sent twice.

DESK = AgentConfig(tools=(ToolSpec(name="issue_refund"), ToolSpec(name="get_order")))
REFUND = call("issue_refund", order_id="A-1042", reason="broken")


@pytest.mark.parametrize(
    ("steps", "holds"),
    [
        ([REFUND], True),
        ([REFUND, REFUND.model_copy(update={"turn": 1})], False),
        ([REFUND, call("issue_refund", turn=1, order_id="a-1042", reason="it broke")], False),
        ([REFUND, call("issue_refund", turn=1, order_id="A-2077", reason="broken")], True),
        ([REFUND, call("issue_refund", order_id="A-1042", reason="late")], True),  # one turn, two reasons
        ([REFUND.model_copy(update={"error": "timed out"}), REFUND], True),  # the first did nothing
        ([REFUND.model_copy(update={"output": "Error: busy"}), REFUND], True),
        (
            [REFUND, call("issue_refund", output={"error": "already refunded"}, turn=1, order_id="A-1042")],
            True,
        ),
        ([call("get_order", order_id="A-1042"), call("get_order", turn=1, order_id="A-1042")], None),
        ([], None),
    ],
)
def test_a_request_sent_twice_is_carried_out_once(steps: list[Step], holds: bool | None) -> None:
    asked = source("Refund A-1042.", answer=run("Done.", steps=[REFUND]), config=DESK)
    assert judged(Retry(), asked, run("Done.", "Done.", steps=steps)) is holds


def test_a_run_that_changed_nothing_is_not_repeated() -> None:
    looked = run("Sent.", steps=[call("get_order", order_id="A-1042")])
    assert Retry().follow_up(source("Where is A-1042?", answer=looked, config=DESK)) is None


def test_tools_that_change_something_are_told_by_their_verbs() -> None:
    changing = ["cancelOrder", "issue_refund", "book-flight", "send_email"]
    reading = ["get_order", "searchFlights", "check_warranty", "order"]
    assert [name for name in changing + reading if changes_something(ToolSpec(name=name))] == [
        *changing,
        "order",
    ]
    assert changes_something(ToolSpec(name="tool_7", description="Delete a file."))
    assert not changes_something(ToolSpec(name="tool_7", description="Weather of a city."))


def test_retry_says_what_it_lacks() -> None:
    scenario = source("Hi").scenario
    assert Retry().lack(scenario, AgentConfig()) == "the agent has no tools"
    weather = AgentConfig(tools=(ToolSpec(name="weather"),))
    assert "tools: [...]" in Retry().lack(scenario, weather)
    assert Retry({"tools": ["weather"]}).lack(scenario, weather) == ""
    assert Retry({"tools": ["wether"]}).lack(scenario, weather) == "the agent has no tool wether"


# Pipelines.

FLOW = AgentConfig(orchestration={"nodes": ["research", "write"]})


def wrote(found: str, written: str, answer: str) -> AgentTrace:
    steps = [
        Step(action=Action.REASON, node="research", output="Let me see"),
        Step(action=Action.REASON, node="research", output=found),
        Step(action=Action.REASON, node="write/draft", output=written),
    ]
    return run(answer, steps=steps)


@pytest.mark.parametrize(
    ("trace", "last", "holds"),
    [
        (wrote("It is Paris", "The capital is Paris.", "Paris it is."), None, True),
        (wrote("It is Paris", "The capital is Lyon.", "Lyon it is."), None, False),
        (wrote("It is Paris", "The capital is Paris.", "Lyon it is."), "write", True),
        (wrote("It is Paris", "The capital is Lyon.", "Paris it is."), "write", False),
        (wrote("It is Lyon", "The capital is Lyon.", "Lyon it is."), None, None),  # wrong from the start
        (run("Paris."), None, None),  # the node did not run
        (wrote("It is Paris", "", ""), "write", False),
    ],
)
def test_what_a_node_found_must_reach_the_end(
    trace: AgentTrace, last: str | None, holds: bool | None
) -> None:
    argument: dict[str, Any] = {
        "first": "research",
        "right": {"contains": "Paris"},
        **({"last": last} if last else {}),
    }
    assert judged(Pipeline(argument), source("Capital?", answer=trace, config=FLOW)) is holds


def test_stages_are_tools_and_turns_too() -> None:
    trace = run("Which order?", "It was sent.", steps=[call("get_order", output={"status": "lost"}, turn=1)])
    asked = source("Hi", "A-1042", answer=trace)
    lost = Pipeline({"first": "get_order", "right": {"contains": "lost"}})
    assert judged(lost, asked) is False
    turns = Pipeline({"first": 1, "right": {"contains": "order"}, "then": {"contains": "sent"}})
    assert judged(turns, asked) is True
    assert turns.lack(asked.scenario, asked.config) == ""
    assert "no turn 3" in Pipeline({"first": 3, "right": {"contains": "a"}}).lack(
        asked.scenario, asked.config
    )
    assert "no node or tool" in Pipeline({"first": "x", "right": {"contains": "a"}}).lack(
        asked.scenario, FLOW
    )


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        (None, "expects a mapping with first, right"),
        ({"first": "a", "right": "Paris"}, "right: expects one evaluator"),
        ({"first": "a", "right": {"contians": "x"}}, "Did you mean 'contains'"),
        ({"first": 0, "right": {"contains": "x"}}, "first: expects the name of a node"),
        ({"first": "a", "last": "a", "right": {"contains": "x"}}, "the same stage"),
    ],
)
def test_a_wrong_pipeline_is_refused_with_what_is_expected(argument: Any, said: str) -> None:
    with pytest.raises(ValueError) as raised:
        Pipeline(argument)
    assert said in str(raised.value)


# Another agent.


def test_parts_of_the_agent_are_put_in() -> None:
    config = AgentConfig(
        prompt="Help.", model=ModelConfig(name="large"), context=(Document(name="a", text="b"),)
    )
    given: dict[str, Any] = {
        "model": {"name": "small", "temperature": 0.0},
        "prompt": "Serve.",
        "set": {"/context/0/text": "c"},
    }
    follow_up = SubstituteAgent(given).follow_up(source("Hi", config=config))
    assert follow_up is not None
    changed = apply_edits(config, follow_up.runs[0].edits)
    assert (changed.prompt, changed.model.name, changed.model.temperature) == ("Serve.", "small", 0.0)
    assert changed.context[0].text == "c"


def test_the_agent_in_its_own_place_is_no_other() -> None:
    config, scenario = AgentConfig(model=ModelConfig(name="large")), source("Hi").scenario
    assert "already" in SubstituteAgent({"model": "large"}).lack(scenario, config)
    missing = SubstituteAgent({"set": {"/tools/3/description": "x"}})
    assert "does not fit" in missing.lack(scenario, config)


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        (None, "expects what is put in"),
        ({"modell": "x"}, "Did you mean 'model'"),
        ({"model": {"nmae": "x"}}, "model: nmae"),
        ({"set": {"/promt": "x"}}, "no JSON pointer into the config"),
        ({"prompt": ""}, "the text of a prompt"),
    ],
)
def test_what_cannot_be_put_in_is_refused(argument: Any, said: str) -> None:
    with pytest.raises(ValueError) as raised:
        SubstituteAgent(argument)
    assert said in str(raised.value)
