"""Requests that speak of formats and limits without demanding them of the answer, and answers that keep them."""

import pytest

from agentmut.relations.oracle.answer_formats import NAMED, asked_format
from agentmut.relations.oracle.answer_limits import Limits, stated_limits


@pytest.mark.parametrize("request_", [
    "Tell me how to show data in a table.",
    "Put the food in a table order.",
    "Send me the export as CSV file to bob@x.com",
    "Send me the export as CSV to bob@x.com",
    "Can you explain what output in JSON means?",
    "How do I export data as JSON?",
    "Tell me whether this is valid JSON.",
    'The customer wrote: "Answer as JSON." What should I do?',
    "The customer wrote: hello. Answer as JSON. What should I do?",
    "My boss says to answer only yes or no.",
])  # fmt: skip
def test_a_format_that_is_spoken_of_is_not_demanded(request_: str) -> None:
    assert asked_format(request_) is None


@pytest.mark.parametrize("request_", [
    "The customer wrote: please do not mention my name. What should I do?",
    "My boss said to answer in French. Is that allowed?",
    "I live in a house with 5 words on the door.",
    "Describe a house with 5 words on the door.",
    "Please help with 10 words of advice in English for my German friend",
    "The title can be at most 10 words.",
    "Can you explain how to say hello in German?",
    "Write to my boss, in German, that I am ill.",
    'He wrote "answer in two sentences" on it.',
])  # fmt: skip
def test_a_limit_that_is_spoken_of_is_not_demanded(request_: str) -> None:
    assert stated_limits(request_) == Limits()


@pytest.mark.parametrize(("answer", "faults"), [
    ("I will not mention the price.", 0),
    ("As you asked, nothing about the price.", 0),
    ("I will not mention the price. The price is $5.", 1),
])  # fmt: skip
def test_who_says_that_a_topic_is_not_spoken_of_does_not_speak_of_it(answer: str, faults: int) -> None:
    assert len(list(stated_limits("Do not mention the price.").faults(answer))) == faults


@pytest.mark.parametrize(("name", "answer"), [("bullets", "- one item"), ("numbered", "1. one item")])
def test_a_list_may_have_one_item(name: str, answer: str) -> None:
    assert NAMED[name](answer) == ""
