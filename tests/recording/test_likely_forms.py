"""Forms of secrets that a text may have: one search for all marks picks what looking for each mark picks."""

from hypothesis import given
from hypothesis import strategies as st

from agentmut.recording.likely_forms import LikelyForms
from agentmut.recording.redaction import FORMS
from agentmut.recording.secret_forms import Form

LIKELY = LikelyForms(FORMS)
MARKS = sorted({mark for form in FORMS for mark in form.marks})
TEXTS = st.lists(st.one_of(st.sampled_from(MARKS), st.text("aks-_SKX1 .\n", max_size=3))).map("".join)


@given(TEXTS)
def test_a_form_is_likely_where_one_of_its_marks_is_in_the_text(text: str) -> None:
    by_hand = [form for form in FORMS if not form.before or any(mark in text for mark in form.marks)]
    likely = LIKELY.forms_in(text)
    assert [form for form in likely if form in by_hand] == by_hand
    assert all(form in by_hand or _has_the_beginning_of_a_mark(form, text) for form in likely)


def _has_the_beginning_of_a_mark(form: Form, text: str) -> bool:
    """Return whether a shorter mark, of another form, is in the text: then the longer one is not looked for."""
    return any(mark.startswith(shorter) for mark in form.marks for shorter in MARKS if shorter in text)


def test_a_text_without_a_mark_has_only_forms_that_have_none() -> None:
    assert LIKELY.forms_in("Where is my order?") == [form for form in FORMS if not form.before]


def test_a_mark_within_another_and_a_longer_one_are_found() -> None:
    kinds = {form.kind for form in LIKELY.forms_in("xsk-ant-")}
    assert {"Anthropic", "OpenAI, OpenRouter, DeepSeek, Langfuse, ElevenLabs"} <= kinds
