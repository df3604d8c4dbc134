"""The prompt and the documents of a mutant in the requests of an agent, in whatever form they are there."""

import copy
import json
from typing import Any

from agentmut.nouns.config import AgentConfig, Document
from tests.wire.rewritten_chat import (
    BASE,
    ONE,
    PROMPT,
    answered,
    asked_tool,
    chat,
    rewritten,
    said,
    system_of,
)


def test_the_prompt_in_a_longer_system_text_is_replaced_as_a_whole() -> None:
    assert system_of("Be kind.\n", f"Today is Monday.\n\n{PROMPT}\nMemory: none.") == (
        "Today is Monday.\n\nBe kind.\n\nMemory: none."
    )


def test_a_stripped_prompt_is_found_as_well() -> None:
    assert system_of("Be kind.\n", PROMPT.strip()) == "Be kind."


def test_a_short_prompt_is_not_found_in_the_middle_of_words() -> None:
    assert system_of("Lie.", "Askew or not, Ask.", base_prompt="Ask.") == "Askew or not, Lie."
    assert system_of("Lie", "Asking is free.", base_prompt="Ask") == "Asking is free."


def test_one_line_of_a_template_changes_and_its_values_stay() -> None:
    template = "You serve {name}, a {{ tier }} customer.\n- Ask $name early.\n- Be brief.\n"
    rendered = "You serve Dr. Ann Lee, a gold customer.\n- Ask Ann early.\n- Be brief.\n"
    assert system_of(template.replace("serve", "ignore"), rendered, template) == rendered.replace(
        "serve", "ignore"
    )
    assert system_of(template.replace("- Ask $name early.\n", ""), rendered, template) == (
        "You serve Dr. Ann Lee, a gold customer.\n- Be brief.\n"
    )
    repeated = template + "- Ask $name early.\n"
    assert system_of(repeated, rendered, template) == rendered + "- Ask Ann early.\n"


def test_a_new_line_with_a_placeholder_that_nothing_tells_is_left_out() -> None:
    assert (
        system_of("Be brief, {x}.\nBe kind.\n", "Be kind. Be calm.", "Be kind.\n{y}") == "Be kind. Be calm."
    )


def test_a_line_is_found_by_its_neighbours_where_it_stands_twice() -> None:
    base = "# Orders\n- Be brief.\n\n# Refunds\n- Be brief.\n\n{memory}\n"
    rendered = base.replace("{memory}", "none")
    changed = base.replace("# Refunds\n- Be brief.", "# Refunds\n- Be long.")
    assert system_of(changed, rendered, base) == rendered.replace(
        "# Refunds\n- Be brief.", "# Refunds\n- Be long."
    )


def test_what_cannot_be_told_apart_is_left_as_it_is() -> None:
    twice = "- Always ask for the order number.\nx\n- Always ask for the order number.\n"
    assert system_of(PROMPT.replace("order number", "name"), twice) == twice


def test_a_prompt_in_blocks_keeps_the_blocks_and_their_cache_markers() -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": "You are the clerk of a shop.", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "- Always ask for the order number.\n- Never promise a date."},
    ]
    after = AgentConfig(prompt=PROMPT.replace("Never", "Always"))
    found = rewritten(AgentConfig(prompt=PROMPT), after, chat(said("system", blocks), said("user", "Hi.")))
    expected = copy.deepcopy(blocks)
    expected[1]["text"] = "- Always ask for the order number.\n- Always promise a date."
    assert found["messages"][0]["content"] == expected


def test_a_prompt_in_a_user_message_is_changed_there_and_only_where_no_system_text_has_it() -> None:
    base, after = AgentConfig(prompt=PROMPT), AgentConfig(prompt="Be kind.")
    alone = rewritten(base, after, chat(said("user", f"{PROMPT}\nWhere is it?")))
    assert alone["messages"][0]["content"] == "Be kind.\nWhere is it?"
    both = rewritten(base, after, chat(said("system", PROMPT), said("user", PROMPT)))
    assert [message["content"] for message in both["messages"]] == ["Be kind.", PROMPT]


def test_the_destroyed_prompt_leaves_no_instructions_where_any_of_it_was() -> None:
    system = "Preamble of the framework.\n- Always ask for the order number.\nMore."
    assert system_of("", system) == ""
    assert system_of("", "Another agent's instructions.") == "Another agent's instructions."


TWO = Document(name="two", text="Returns are free.")


NEW = Document(name="new", text="The moon is far.")


def documents(
    before: tuple[Document, ...], after: tuple[Document, ...], text: str, role: str = "system"
) -> str:
    base, changed = (BASE.model_copy(update={"context": docs}) for docs in (before, after))
    found = rewritten(base, changed, chat(said("user", "Hi."), said(role, text), said("user", "And?")))
    return str(found["messages"][1]["content"])


def test_documents_change_places_in_the_form_they_have() -> None:
    text = f"Rules.\n\n{ONE.wrapped}\n\nBetween.\n\n{TWO.text}"
    assert documents((ONE, TWO), (TWO, ONE), text) == f"Rules.\n\n{TWO.text}\n\nBetween.\n\n{ONE.wrapped}"


def test_a_dropped_document_goes_with_its_tags() -> None:
    assert (
        documents((ONE, TWO), (TWO,), f"Rules.\n\n{ONE.wrapped}\n\n{TWO.wrapped}")
        == f"Rules.\n\n{TWO.wrapped}"
    )


def test_a_new_document_goes_behind_its_neighbour_or_to_the_end_of_the_instructions() -> None:
    inserted = (ONE, NEW, TWO)
    assert documents((ONE, TWO), inserted, f"{ONE.text}\n\n{TWO.text}") == (
        f"{ONE.text}\n\n{NEW.text}\n\n{TWO.text}"
    )
    assert documents((ONE, TWO), inserted, PROMPT) == f"{PROMPT}\n\n{NEW.wrapped}"
    assert documents((ONE, TWO), inserted, "Another agent's rules.") == "Another agent's rules."


def test_a_document_given_twice_follows_itself() -> None:
    assert documents((ONE,), (ONE, ONE), ONE.wrapped) == f"{ONE.wrapped}\n\n{ONE.wrapped}"


def test_documents_in_json_results_of_tools_are_changed_there() -> None:
    old = Document(name="d", text='Say "yes".\nRefunds take 14 days.')
    new = Document(name="d", text='Say "yes".\nRefunds take 30 days.')
    base, changed = (BASE.model_copy(update={"context": (document,)}) for document in (old, new))
    body = chat(said("user", "Hi."), asked_tool("find"), answered(json.dumps({"hits": [old.text]})))
    found = rewritten(base, changed, body)
    assert json.loads(found["messages"][2]["content"]) == {"hits": [new.text]}
    part = chat(said("user", "Hi."), asked_tool("find"), answered("...Refunds take 14 days."))
    assert rewritten(base, changed, part)["messages"][2]["content"] == "...Refunds take 30 days."
