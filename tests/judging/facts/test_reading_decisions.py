"""Decisions and named options, with negation."""

import pytest

from agentmut._base.errors import UsageError
from agentmut.judging.facts.registry import build_extractor
from agentmut.language.extractors.decisions import decisions
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import AgentTrace

SCENARIO = Scenario(name="one", turns=("hello",), evaluators=(EvaluatorSpec(name="contains", argument="a"),))


def values(text: str, name: str, argument: object) -> set[str]:
    extractor = build_extractor(EvaluatorSpec.model_validate({"name": name, "argument": argument}))
    return {fact.value for fact in extractor.facts(SCENARIO, AgentTrace(outputs=(text,)))}


@pytest.mark.parametrize(
    "text",
    [
        "Yes, we ship there.", "Your refund has been approved.", "I've issued a refund of $5.",
        "We'll gladly refund it.",
        "You're eligible.", "We are not unable to refund it.", "There is no reason to refuse.", "You can return it.",
        "No problem! We will refund it.", "If it is not broken, ask. Your request was accepted.",
        "I'm happy to cancel it.", "Not only will we refund it.",
    ],
)  # fmt: skip
def test_granting_is_read_in_many_words(text: str) -> None:
    assert decisions(text) == {"yes"}


@pytest.mark.parametrize(
    "text",
    [
        "No, we don't ship there.", "We can't refund it.", "We cannot refund it.", "I won't be able to approve this.",
        "Your refund was not approved.", "It isn’t eligible.", "Unfortunately, your request was denied.",
        "We must decline.", "Returns are not possible.", "I am unable to process a refund.", "You cannot return it.",
        "We never approve this.", "You will not be refunded.",
    ],
)  # fmt: skip
def test_refusing_is_read_in_many_words(text: str) -> None:
    assert decisions(text) == {"no"}


@pytest.mark.parametrize(
    "text",
    [
        "You can contact us any time.", "Is it possible to refund it?", "Your refund policy is attached.",
        "No further action is needed.", "I may be able to assist you.", 'Please confirm with a "yes" so that I know.',
        "If we can refund it, I will tell you.", "",
    ],
)  # fmt: skip
def test_courtesies_questions_and_conditions_decide_nothing(text: str) -> None:
    assert decisions(text) == set()


def test_an_answer_that_grants_and_refuses_shows_both() -> None:
    assert decisions("It is not refundable, but you can exchange it.") == {"yes", "no"}


def test_own_terms_name_the_decisions_and_a_negated_one_is_the_other() -> None:
    terms = {"escalated": ["escalate", "hand over"], "closed": ["close"]}
    assert values("I have escalated your case.", "decisions", terms) == {"escalated"}
    assert values("I am handing over to a colleague.", "decisions", terms) == {"escalated"}
    assert values("I did not close it.", "decisions", terms) == {"escalated"}


def test_each_term_of_a_list_is_said_or_denied_by_itself() -> None:
    assert values("It is covered, not insured.", "decisions", ["covered", "insured"]) == {
        "covered = yes", "insured = no",
    }  # fmt: skip


def test_options_are_whole_words_and_denied_ones_are_others() -> None:
    options = ["express", "Standard", "gold card"]
    assert values("Take STANDARD, not express.", "options", options) == {"standard", "not express"}
    assert values("Express is not available; the gold card is.", "options", options) == {
        "not express",
        "gold card",
    }
    assert values("It was expressly standardised.", "options", options) == set()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"name": "nubmers"}, "Did you mean 'numbers'?"),
        ({"name": "numbers", "argument": 3}, "takes no argument, got 3"),
        ({"name": "options"}, "expects a list of options"),
        ({"name": "json", "argument": ["status"]}, "a pointer begins with a slash"),
        ({"name": "text", "argument": {"measure": "bleu"}}, "chrf or edit, got 'bleu'"),
        ({"name": "text", "argument": {"threshold": 2}}, "from 0 to 1"),
        ({"name": "judge", "argument": {"model": "gpt-5.2"}}, "openai:NAME or anthropic:NAME"),
        ({"name": "judge"}, "expects a mapping with model"),
        ({"name": "python", "argument": "nowhere:at_all"}, "nowhere"),
        ({"name": "decisions", "argument": {}}, "terms"),
    ],
)
def test_an_unknown_extractor_or_argument_is_refused_with_a_remedy(
    spec: dict[str, object], said: str
) -> None:
    with pytest.raises(UsageError) as error:
        build_extractor(EvaluatorSpec.model_validate(spec))
    assert said in str(error.value)
