"""What happens to documents and to the conversation; texts and expectations by hand."""

from importlib.metadata import entry_points

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.language.quantities.other_numbers import Deviation
from agentmut.language.quantities.stated_facts import FactKind, facts
from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig, Document, History
from agentmut.nouns.mutant import Mutant, Reach
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.operators.context.values import restated
from agentmut.seams.protocols.operator import Operator, OperatorOptions
from agentmut.trial.suite_config import SuiteConfig

OPERATORS: dict[str, Operator] = {
    entry.name: entry.load()()
    for entry in entry_points(group="agentmut.operators")
    if entry.name.startswith("context.")
}


def mutants(id_: str, config: AgentConfig) -> tuple[Mutant, ...]:
    return generate(config, [OPERATORS[f"context.{id_}"]], OperatorOptions()).mutants


def texts(id_: str, text: str) -> list[str]:
    config = AgentConfig(context=(Document(name="d", text=text),))
    return [mutant.apply(config).context[0].text for mutant in mutants(id_, config)]


# Facts


def found(text: str) -> list[tuple[str, str, str]]:
    return [(f.kind, text[slice(*f.span)], text[slice(*f.value)]) for f in facts(text)]


def test_facts_are_found_with_what_they_state_and_their_value() -> None:
    assert found("Pay $1,200.50 or 20 euros within 30 days, 15% off; call KB-204 before 18:30.") == [
        (FactKind.AMOUNT, "$1,200.50", "1,200.50"),
        (FactKind.AMOUNT, "20 euros", "20"),
        (FactKind.QUANTITY, "30 days", "30"),
        (FactKind.QUANTITY, "15%", "15"),
        (FactKind.IDENTIFIER, "KB-204", "KB-204"),
        (FactKind.TIME, "18:30", "18:30"),
    ]


def test_dates_are_known_by_what_changes_in_them() -> None:
    said = "On 2024-05-17, 17 May 2024, May 5, 2023 and 3 March, since 2019."
    assert [(whole, value) for kind, whole, value in found(said)] == [
        ("2024-05-17", "2024-05-17"),
        ("17 May 2024", "2024"),
        ("May 5, 2023", "2023"),
        ("3 March", "3"),
        ("2019", "2019"),
    ]


@pytest.mark.parametrize(
    "text", ["Item 12 and rule 5.", "Version v1.2.3 of A4 paper.", "Call 55 01.", "One of them. 24/7", ""]
)
def test_numbers_without_a_unit_are_no_facts(text: str) -> None:
    assert found(text) == []


@given(st.text(alphabet="0123456789 ,.$%-:abdyMayKE", max_size=60))
@settings(max_examples=60, deadline=None)
def test_facts_are_in_order_apart_and_can_all_be_restated(text: str) -> None:
    last = 0
    for fact in facts(text):
        assert last <= fact.span.start <= fact.value.start < fact.value.end <= fact.span.end
        last = fact.span.end
        for other in Deviation:
            (start, end), after = restated(text, fact, other)
            assert after and (after != text[start:end] or fact.kind is FactKind.IDENTIFIER)


@pytest.mark.parametrize(
    ("said", "near", "far", "older"),
    [
        ("5 days", "6 days", "50 days", "4 days"),
        ("30 days", "31 days", "300 days", "25 days"),
        ("14 days", "15 days", "140 days", "13 days"),
        ("1 day", "2 days", "10 days", "2 days"),
        ("one year", "two years", "four years", "two years"),
        ("Five weeks", "Six weeks", "Ten weeks", "Four weeks"),
        ("two weeks", "three weeks", "five weeks", "three weeks"),
        ("$200", "$210", "$2000", "$150"),
        ("$1,200.50", "$1,300.50", "$12,005.00", "$1,100.50"),
        ("12,50 €", "13,50 €", "125,00 €", "11,50 €"),
        ("15%", "16%", "1.5%", "10%"),
        ("100%", "99%", "10%", "50%"),
        ("2024-05-17", "2024-05-18", "2024-11-17", "2022-05-17"),
        ("17 May 2024", "17 May 2025", "17 May 2014", "17 May 2022"),
        ("3 March", "4 March", "17 March", "2 March"),
        ("18:30", "19:30", "00:30", "17:30"),
        ("KB-204", "KB-205", "KB-759", "KB-205"),
    ],
)
def test_other_values_keep_the_notation(said: str, near: str, far: str, older: str) -> None:
    (fact,) = facts(said)

    def other(which: Deviation) -> str:
        (start, end), after = restated(said, fact, which)
        return f"{said[:start]}{after}{said[end:]}"

    assert (other(Deviation.NEAR), other(Deviation.FAR), other(Deviation.OLDER)) == (near, far, older)


# Documents


def test_a_value_is_corrupted_nearly_and_wildly() -> None:
    assert texts("corrupt_value", "# Fees 10 days\nIt costs 20 euros, see `5 days`.\n") == [
        "# Fees 10 days\nIt costs 21 euros, see `5 days`.\n",
        "# Fees 10 days\nIt costs 200 euros, see `5 days`.\n",
    ]


def test_each_document_is_dropped_and_doubled_once() -> None:
    config = AgentConfig(context=tuple(Document(name=name, text=name) for name in "ab"))
    assert [[d.name for d in m.apply(config).context] for m in mutants("drop_document", config)] == [
        ["b"],
        ["a"],
    ]
    doubled = mutants("duplicate_document", config)
    assert [[d.name for d in m.apply(config).context] for m in doubled] == [list("aab"), list("abb")]
    assert [m.subject for m in doubled] == ["a", "b"]


def test_a_fact_is_contradicted_at_the_other_end_of_the_document() -> None:
    assert texts("contradict_fact", "Refunds take 5 days.\nGifts can be returned.\n") == [
        "Refunds take 5 days.\nGifts can be returned.\n\nRefunds take 6 days.\n",
        "Gifts cannot be returned.\n\nRefunds take 5 days.\nGifts can be returned.\n",
    ]


@pytest.mark.parametrize(
    ("said", "other"),
    [
        ("Gift cards cannot be returned.", "Gift cards can be returned."),
        ("Members must sign.", "Members need not sign."),
        ("The shop is not open on Sundays.", "The shop is open on Sundays."),
        ("Pets are welcome.", "Pets are not welcome."),
    ],
)
def test_a_sentence_without_a_figure_is_denied_or_affirmed(said: str, other: str) -> None:
    assert texts("contradict_fact", said) == [f"{other}\n\n{said}"]


@pytest.mark.parametrize(
    "said",
    [
        "If it is late, wait.",
        "We never ship what is broken.",
        "Nobody can enter.",
        "Only members may enter.",
        "Is it open?",
        "Go to the shop that is nearest.",
        "Das ist ein Geschäft für Bücher.",
        'Say "it is open".',
        "Ask us.",
    ],
)
def test_sentences_whose_denial_is_not_plain_are_left_alone(said: str) -> None:
    assert texts("contradict_fact", said) == []


def test_an_older_version_has_older_values_and_a_date() -> None:
    assert texts("stale_version", "Refunds take 10 days.\r\nCall KB-204, it costs $20.") == [
        "Last updated: March 2021\r\n\r\nRefunds take 5 days.\r\nCall KB-204, it costs $15."
    ]
    assert texts("stale_version", "Valid from 1 May 2024: refunds take 10 days.") == [
        "Valid from 1 May 2022: refunds take 5 days."
    ]
    assert texts("stale_version", "No figures here.") == []


def test_orders_for_assistants_stand_in_the_middle_or_at_the_end() -> None:
    ignore, reveal, recommend = texts("embedded_instruction", "Aa bb.\n\nCc dd.\n\nEe ff.\n\nGg hh.\n")
    assert ignore.startswith("Aa bb.\n\nCc dd.\n\nEe ff.\n\nGg hh.\n\nNote to AI assistants: the rules")
    assert recommend.startswith("Aa bb.\n\nCc dd.\n\nEe ff.\n\nGg hh.\n\nNote to AI assistants: tell")
    first, _, rest = reveal.partition("Note to AI assistants: begin")
    assert "Aa bb." in first and "Gg hh." in rest
    assert texts("embedded_instruction", " \n") == []


def test_documents_of_one_scenario_are_mutated_for_that_scenario_alone() -> None:
    own = Document(name="own", text="It costs 20 euros. Pets are welcome.")
    shared = Document(name="shared", text="Refunds take 10 days. Gifts are final.")
    check = (EvaluatorSpec(name="x"),)
    one = Scenario(name="one", turns=("Hi",), evaluators=check, context=(own,))
    two = Scenario(name="two", turns=("Hi",), evaluators=check)
    suite = SuiteConfig(AgentConfig(context=(shared,)), [one, two])
    for id_ in (
        "drop_document", "duplicate_document", "contradict_fact", "corrupt_value", "stale_version",
        "embedded_instruction",
    ):  # fmt: skip
        named = [mutant for mutant in mutants(id_, suite.full) if mutant.subject == "own"]
        assert named, id_
        for mutant in named:
            mutated = mutant.apply(suite.full)
            assert suite.carriers(mutant.subject) == {"one"}
            assert suite.part(mutated, "two").context == (shared,)
            assert suite.part(mutated, "one") != suite.part(suite.full, "one")


def test_ids_survive_another_document_and_another_sentence() -> None:
    text = "Refunds take 10 days.\n\nGifts can be returned.\n\nIt costs 20 euros.\n"
    before = AgentConfig(context=(Document(name="d", text=text),))
    new = Document(name="new", text="New.")
    longer = AgentConfig(context=(new, Document(name="d", text=f"Hello.\n\n{text}")))
    for id_ in ("drop_document", "corrupt_value", "contradict_fact", "stale_version"):
        assert ids(id_, before) and ids(id_, before) <= ids(id_, longer), id_
    more = AgentConfig(context=(new, *before.context))
    for id_ in ("duplicate_document", "embedded_instruction"):
        assert ids(id_, before) and ids(id_, before) <= ids(id_, more), id_


def ids(id_: str, config: AgentConfig) -> set[str]:
    return {mutant.id for mutant in mutants(id_, config)}


# History


def test_history_is_changed_only_where_there_is_one() -> None:
    for id_, after in (("drop_history", History.DROPPED), ("swap_speakers", History.SWAPPED)):
        (mutant,) = mutants(id_, AgentConfig(history=History.KEPT))
        assert mutant.apply(AgentConfig(history=History.KEPT)).history is after
        assert mutant.reach is Reach.CONVERSED
        assert mutants(id_, AgentConfig()) == ()
    generation = generate(AgentConfig(), [OPERATORS["context.drop_history"]], OperatorOptions())
    assert generation.empty[0].reason.endswith("because no scenario has more than one turn")
