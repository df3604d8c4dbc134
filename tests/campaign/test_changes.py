"""What changed in an agent, and which mutants touch it."""

from pydantic import JsonValue

from agentmut.mutation.difference import changed_lines, changes, touches
from agentmut.nouns.config import AgentConfig, Document, History, ModelConfig
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach
from agentmut.nouns.tools import ToolSpec


def lines(before: str, after: str) -> list[str]:
    return [after[start:end] for start, end in changed_lines(before, after)]


def mutant(*edits: Edit, subject: str = "") -> Mutant:
    return Mutant(
        id="x", operator="o.x", version=1, operator_class=OperatorClass.PROMPT, intent=Intent.DEGRADE,
        reach=Reach.SENT, description="x", subject=subject, edits=edits,
    )  # fmt: skip


def at(pointer: str, before: JsonValue = "a", after: JsonValue = "b") -> Edit:
    return Edit(pointer=pointer, before=before, after=after)


def in_text(text: str, part: str, pointer: str = "/prompt") -> Edit:
    start = text.index(part)
    return Edit(pointer=pointer, before=part, after="", span=(start, start + len(part)))


def test_new_and_rewritten_lines_count() -> None:
    assert lines("a\nb\nc\n", "a\nB\nc\nd\n") == ["B", "d"]


def test_a_deleted_line_counts_for_its_nearest_neighbours_that_say_something() -> None:
    assert lines("a\nb\n\nc\n\nd\ne\n", "a\nb\n\n\nd\ne\n") == ["b", "d"]
    assert lines("a\nb", "b") == ["b"]


def test_line_ends_and_blank_lines_are_no_change() -> None:
    assert lines("a\r\nb  \r\n", "a\nb\n") == []
    assert lines("a\nb\n", "a\n\n\nb\n") == []
    assert lines("a\n\n\nb\n", "a\nb\n") == []


def test_an_edit_touches_the_lines_under_its_span_and_not_the_next() -> None:
    prompt = "- one\n- two\n- three"
    found = changes(AgentConfig(prompt="- one\n- 2\n- three"), AgentConfig(prompt=prompt))
    config = AgentConfig(prompt=prompt)
    assert touches(found, mutant(in_text(prompt, "- two\n")), config)
    assert touches(found, mutant(in_text(prompt, "one\n- t")), config)
    assert touches(found, mutant(in_text(prompt, "three"), in_text(prompt, "two")), config)
    assert not touches(found, mutant(in_text(prompt, "- one\n")), config)
    assert not touches(found, mutant(in_text(prompt, "\n- three")), config)


def test_tools_count_by_name_wherever_they_stand() -> None:
    a, b, c = (ToolSpec(name=name, description="d") for name in "abc")
    new = AgentConfig(tools=(b, a.model_copy(update={"description": "D"})))
    found = changes(AgentConfig(tools=(a, b, c)), new)
    assert (found.tools, found.tool_list) == (frozenset({"a"}), True)
    assert found.parts == ("list of tools", "tools/a")
    assert touches(found, mutant(at("/tools/1/description")), new)
    assert not touches(found, mutant(at("/tools/0/description")), new)
    assert touches(found, mutant(at("/tools")), new)


def test_an_unchanged_list_leaves_its_order_alone() -> None:
    a, b = ToolSpec(name="a"), ToolSpec(name="b")
    new = AgentConfig(tools=(a, b.model_copy(update={"description": "D"})))
    found = changes(AgentConfig(tools=(a, b)), new)
    assert not touches(found, mutant(at("/tools")), new)
    copy = at("/tools/2", None, {"name": "b_2"})
    assert touches(found, mutant(copy, subject="b"), new)
    assert not touches(found, mutant(copy, subject="a"), new)


def test_documents_settings_and_history_count_each_for_itself() -> None:
    old = AgentConfig(
        model=ModelConfig(name="m", temperature=0.0),
        context=(Document(name="a", text="one\ntwo"), Document(name="b", text="x")),
        orchestration={"turns": 4, "retries": {"max": 1}},
    )
    new = old.model_copy(
        update={
            "model": ModelConfig(name="m", temperature=1.0),
            "context": (Document(name="a", text="one\n2"), Document(name="b", text="x")),
            "orchestration": {"turns": 4, "retries": {"max": 2}},
            "history": History.KEPT,
        }
    )
    found = changes(old, new)
    assert found.parts == ("a", "history", "model/temperature", "orchestration/retries")
    assert touches(found, mutant(in_text("one\n2", "2", "/context/0/text")), new)
    assert not touches(found, mutant(in_text("one\n2", "one", "/context/0/text")), new)
    assert not touches(found, mutant(at("/context/1/text")), new)
    assert touches(found, mutant(at("/model/temperature")), new)
    assert not touches(found, mutant(at("/model/name")), new)
    assert touches(found, mutant(at("/orchestration/retries/max")), new)
    assert not touches(found, mutant(at("/orchestration/turns")), new)
    assert touches(found, mutant(at("/history", "kept", "dropped")), new)


def test_the_same_agent_has_no_changes_and_a_new_one_has_all() -> None:
    config = AgentConfig(prompt="Be kind.", tools=(ToolSpec(name="a"),), model=ModelConfig(name="m"))
    assert not changes(config, config).any
    fresh = changes(None, config)
    assert fresh.any
    assert all(
        touches(fresh, mutant(edit), config)
        for edit in (in_text("Be kind.", "kind"), at("/tools/0/name"), at("/tools"), at("/model/name"))
    )


def test_a_renamed_document_with_the_same_text_has_only_another_name() -> None:
    old = AgentConfig(context=(Document(name="a.md", text="one"), Document(name="b.md", text="two")))
    new = AgentConfig(context=(Document(name="a.md", text="one"), Document(name="c.md", text="two")))
    found = changes(old, new)
    assert (found.documents, found.document_list) == ({}, True)
    assert not touches(found, mutant(in_text("two", "two", "/context/1/text")), new)
    copied = AgentConfig(context=(*old.context, Document(name="c.md", text="two")))
    assert changes(old, copied).documents == {"c.md": ((0, 3),)}
