"""Every entry of the lexicon, in a sentence."""

import re

import pytest
from pydantic import ValidationError

from agentmut.language.prompt.document import parse
from agentmut.language.vocabulary.inflection import inflected
from agentmut.language.vocabulary.lexicon import BINDING, FIELDS, RELATIONS, Entry, Relation, load_lexicon
from agentmut.language.vocabulary.neighbours import BASE_VERBS, Following
from agentmut.language.vocabulary.uses import uses

ENTRIES = list({id(e): e for found in load_lexicon().entries.values() for e in found}.values())
every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.topic}:{entry.forms[0]}")
CARRIERS = {
    "verb": ("Please {} the plan.", "She {} the plan.", "They {} the plan.", "They {} the plan."),
    "noun": ("Read about the {}.",) * 2,
    "adjective": ("The plan is {}.",),
    "adverb": ("They work {}.",),
    "preposition": ("Write {} the plan.",),
    "conjunction": ("Write {} you can.",),
}


def carrier(entry: Entry, form: str) -> str:
    if entry.carrier:
        return entry.carrier
    if entry.kind == "verb" and form.split(maxsplit=1)[0].endswith("ing") and form != "bring up":
        return f"They are {{}} {'on ' * bool(entry.only_before & {'upon'})}the plan."
    place = min(entry.forms.index(form), len(CARRIERS[entry.kind]) - 1)
    said = CARRIERS[entry.kind][place]
    if entry.followed_by is Following.CLAUSE or entry.only_before & {"on", "upon"}:
        return said.replace("the plan", "on the plan")
    return said


def said_in(sentence: str, entry: Entry, relation: Relation) -> str | None:
    """The sentence with what the entry says in the place of its form; None where it says nothing."""
    document = parse(sentence)
    for instruction in document.instructions:
        for use in uses(document, instruction, entry.topic):
            if entry in use.entries and (said := use.replacement(relation)) is not None:
                return sentence[: use.start] + said + sentence[use.end :]
    return None


@every_entry
def test_every_form_is_replaced_in_a_sentence(entry: Entry) -> None:
    for relation in RELATIONS:
        for form, said in zip(entry.forms, entry.replacements(relation), strict=False):
            if said == "-":
                continue
            sentence = carrier(entry, form)
            assert said_in(sentence.format(form), entry, relation) == sentence.format(said)
            if not sentence.startswith("{}"):
                shouted = sentence.upper()
                assert said_in(shouted.format(form.upper()), entry, relation) == shouted.format(said.upper())


def test_every_form_keeps_its_capital_at_the_start() -> None:
    for entry in ENTRIES:
        for relation in RELATIONS:
            for form, said in zip(entry.forms, entry.replacements(relation), strict=False):
                if said not in ("-", ""):
                    previous, following = min(entry.only_after, default=""), _following(entry)
                    found = entry.replacement(relation, form[0].upper() + form[1:], previous, following)
                    assert found == (said[0].upper() + said[1:] if entry.capitalised else None)


def _following(entry: Entry) -> str:
    usual = {
        Following.NUMBER: "5", Following.CLAUSE: "you", Following.PLURAL: "numbers", Following.VERB: "verify",
    }.get(entry.followed_by, "people")  # fmt: skip
    return min(entry.only_before) if entry.only_before else usual


def test_no_entry_speaks_next_to_a_word_that_guards_against_it() -> None:
    for entry in ENTRIES:
        for relation in RELATIONS:
            for form in entry.forms:
                assert all(entry.replacement(relation, form, "", word) is None for word in entry.not_before)
                assert all(
                    entry.replacement(relation, form, word, _following(entry)) is None
                    for word in entry.not_after
                )
                if entry.only_before:
                    assert (
                        entry.replacement(relation, form, min(entry.only_after, default=""), "zebra") is None
                    )
                if entry.only_after:
                    assert entry.replacement(relation, form, "zebra", _following(entry)) is None
        guards = entry.not_before | entry.not_after | entry.only_before | entry.only_after
        assert not [word for word in guards if " " in word]  # guards look at one word


def test_every_replacement_says_something_else_in_the_same_form() -> None:
    for entry in ENTRIES:
        for relation in RELATIONS:
            for form, said in zip(entry.forms, entry.replacements(relation), strict=False):
                assert said != form and {form, said} == {form.lower().strip(), said.lower().strip()}
                if said not in ("-", "") and entry.kind == "verb" and entry.topic in FIELDS:
                    assert _ends_alike(form, said), (form, said)


def _ends_alike(form: str, said: str) -> bool:
    """Whether two verbs are both -ing forms, or both end as a third person does, or neither."""
    first = said.split(maxsplit=1)[0]
    is_ing = form.endswith("ing") == (first.endswith("ing") and first != "bring")
    return is_ing and _is_third(form) == _is_third(first)


def _is_third(verb: str) -> bool:
    return verb.endswith("s") and not verb.endswith("ss")


def test_verbs_that_are_inflected_by_rule_are_inflected_by_it() -> None:
    """The others have a past of their own, double a consonant, or are of two words."""
    regular = [e for e in ENTRIES if e.kind == "verb" and e.topic in FIELDS and len(e.forms) == 4]
    odd = {
        entry.forms[0]
        for entry in regular
        if entry.forms != tuple(inflected(entry.forms[0], ending) for ending in ("", "s", "ed", "ing"))
    }
    assert odd == {"buy", "omit"}


@pytest.mark.parametrize(
    ("word", "previous", "said"),
    [
        ("urgent", "an", None),  # "an pressing"
        ("concise", "a", "brief"),
        ("appropriate", "an", None),  # "an suitable"
        ("accurate", "an", None),
        ("relevant", "a", "pertinent"),
        ("entire", "an", None),
    ],
)
def test_an_article_before_the_word_still_fits(word: str, previous: str, said: str | None) -> None:
    prompt = f"Give {previous} {word} answer."
    document = parse(prompt)
    found = [
        use.replacement("neutral") for use in uses(document, document.instructions[0]) if use.text == word
    ]
    assert found == [said]


def test_the_lexicon_has_some_hundred_heads_of_every_kind() -> None:
    topics = {entry.topic for entry in ENTRIES}
    assert len(ENTRIES) >= 240
    assert topics == {*BINDING, *FIELDS, "comparators", "order", "scope"}
    assert load_lexicon().version == 4


def test_no_synonym_names_a_business_object() -> None:
    """They name tools too: another word for one would change what is asked for."""
    objects = re.compile(r"^(?:refund|order|customer|invoice|booking|ticket|payment|account|user)s?$")
    assert not [e.forms for e in ENTRIES if e.neutral and any(map(objects.match, e.forms))]


def test_every_verb_of_the_fields_is_known_as_the_beginning_of_an_order() -> None:
    heads = {entry.forms[0] for entry in ENTRIES if entry.kind == "verb" and entry.topic in FIELDS}
    assert not heads - BASE_VERBS


@pytest.mark.parametrize("forms", ["check, checks", ""])
def test_an_entry_needs_a_replacement_for_each_form(forms: str) -> None:
    with pytest.raises(ValidationError, match=r"one replacement for each of its forms"):
        Entry.model_validate({"topic": "t", "kind": "verb", "forms": forms, "neutral": "a, b, c"})
