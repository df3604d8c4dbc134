"""Which mutants are chosen: by operator, intent and place, under caps and in samples that hardly move."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from agentmut._base.errors import UsageError
from agentmut.campaign.selection.caps import sampled
from agentmut.campaign.selection.selection import Selection, select_mutants
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach
from agentmut.nouns.origin import Origin, Place, Sources
from agentmut.nouns.tools import ToolSpec
from agentmut.project.schema import MutationSettings

PROMPT = "Be kind.\n\n- Always greet.\n- Never guess. Ask.\n"
CONFIG = AgentConfig(
    prompt=PROMPT,
    tools=(ToolSpec(name="refund"), ToolSpec(name="lookup")),
    model=ModelConfig(name="m"),
    context=(Document(name="docs/policy.md", text="one\ntwo\n"),),
)
ORIGIN = Origin(
    config=CONFIG,
    sources=Sources(
        prompt="prompts/system.md",
        tools="tools.yaml",
        tool_places={
            "refund": Place(path="tools.yaml", line=1),
            "lookup": Place(path="tools.yaml", line=7),
        },
    ),
    file="agentmut.yaml",
)


def mutant(id_: str, *edits: Edit, operator: str = "prompt.x", intent: Intent = Intent.DEGRADE) -> Mutant:
    return Mutant(
        id=id_, operator=operator, version=1, operator_class=OperatorClass.PROMPT, intent=intent,
        reach=Reach.SENT, description=id_, edits=edits or (in_prompt("kind"),),
    )  # fmt: skip


def in_prompt(text: str) -> Edit:
    start = PROMPT.index(text)
    return Edit(pointer="/prompt", before=text, after="", span=(start, start + len(text)))


def at(pointer: str, before: JsonValue = "a", after: JsonValue = "b") -> Edit:
    return Edit(pointer=pointer, before=before, after=after)


MUTANTS = (
    mutant("kind", in_prompt("kind")),
    mutant("greet", in_prompt("- Always greet.\n")),
    mutant("guess", in_prompt("Never")),
    mutant("both", in_prompt("kind"), in_prompt("Ask")),
    mutant("refund", at("/tools/0/description")),
    mutant("lookup", at("/tools/1/parameters/properties/id")),
    mutant("order", at("/tools")),
    mutant("model", at("/model/name")),
    mutant("policy", Edit(pointer="/context/0/text", before="two", after="", span=(4, 7))),
)


def chosen(
    pool: tuple[Mutant, ...] = MUTANTS, *, cap: MutationSettings | None = None, **given: Any
) -> list[str]:
    selection = Selection(**given)
    return [m.id for m in select_mutants(pool, selection, cap or MutationSettings(), ORIGIN)]


@pytest.mark.parametrize(
    ("target", "ids"),
    [
        ("prompts/system.md", ["kind", "greet", "guess", "both"]),
        ("prompt", ["kind", "greet", "guess", "both"]),
        ("prompts/system.md:3", ["greet"]),
        ("prompts/system.md:3-4", ["greet", "guess", "both"]),
        ("tools", ["refund", "lookup", "order"]),
        ("tools.yaml", ["refund", "lookup", "order"]),
        ("tools.yaml:7", ["lookup"]),
        ("tools/refund", ["refund"]),
        ("model", ["model"]),
        ("model/name", ["model"]),
        ("model/temperature", []),
        ("docs/policy.md", ["policy"]),
        ("docs/policy.md:2", ["policy"]),
        ("docs/policy.md:1", []),
        ("orchestration", []),
        ("agentmut.yaml", ["model"]),
    ],
)
def test_a_target_is_a_file_its_lines_or_a_part(target: str, ids: list[str]) -> None:
    assert chosen(targets=(target,)) == ids


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("tools/refnd", "Did you mean 'tools/refund'?"),
        ("prompts/system.md:90", "prompts/system.md has 4 lines"),
        ("docs/policy.md:3", "docs/policy.md has 2 lines"),
        ("prompts/systm.md:3", "Did you mean 'prompts/system.md'?"),
        ("prompts/system.md:4-3", "the first before the last"),
        ("prompts/system.md:0", "count from 1"),
    ],
)
def test_a_target_that_does_not_exist_is_refused_with_the_nearest(target: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        chosen(targets=(target,))
    assert said in str(error.value)


def test_operators_are_named_by_name_class_or_pattern() -> None:
    known = ("prompt.drop", "prompt.negate", "tool.remove", "tool.rename")
    cases = {("tool.r*",): known[2:], ("prompt.*", "tool.remove"): known[:3], ("tool",): known[2:]}
    for patterns, names in cases.items():
        assert Selection(operators_named=patterns).operators(known, MutationSettings()) == names
    with pytest.raises(UsageError, match=r"Did you mean 'tool.remove'"):
        Selection(operators_named=("tool.remve",)).operators(known, MutationSettings())
    with pytest.raises(UsageError, match="match both options"):
        Selection(classes=("tool",), operators_named=("prompt.*",)).operators(known, MutationSettings())
    with pytest.raises(UsageError, match=r"tol\.\*"):
        Selection(operators_named=("tol.*",)).operators(known, MutationSettings())


@pytest.mark.parametrize(
    ("given", "cap", "said"),
    [
        (
            {"operators_named": ("tool.r*", "prompt.negate")},
            {"operators": ["tool.remove"]},
            "mutation.operators",
        ),
        ({"classes": ("tool", "prompt")}, {"operators": ["tool.remove"]}, "mutation.operators"),
        ({"operators_named": ("tool", "prompt.negate")}, {"classes": ["tool"]}, "mutation.classes"),
    ],
)
def test_a_filter_that_the_project_file_overrules_is_an_error(
    given: dict[str, Any], cap: dict[str, Any], said: str
) -> None:
    known = ("prompt.negate", "tool.remove", "tool.rename")
    with pytest.raises(UsageError, match=rf"prompt.*{said}"):
        Selection(**given).operators(known, MutationSettings(**cap))


def test_an_intent_leaves_the_other_out() -> None:
    found = (mutant("a"), mutant("b", intent=Intent.PRESERVE))
    assert chosen(found, intents=(Intent.PRESERVE,)) == ["b"]


def test_the_cap_of_an_instruction_counts_over_operators_and_keeps_the_smallest_ids() -> None:
    found = (
        mutant("3", in_prompt("Always"), operator="prompt.a"),
        mutant("1", in_prompt("- Always greet.\n"), operator="prompt.b"),
        mutant("2", in_prompt("greet"), operator="prompt.c"),
        mutant("6", in_prompt("Never"), operator="prompt.a"),
        mutant("5", in_prompt("Ask"), operator="prompt.a"),
        mutant("8", at("/tools/0/description"), operator="tool.a"),
        mutant("7", at("/tools/0"), operator="tool.b"),
        mutant("9", at("/tools/1"), operator="tool.b"),
    )
    assert chosen(found, cap=MutationSettings(per_instruction=1)) == ["1", "6", "5", "7", "9"]


def test_named_mutants_are_under_no_cap() -> None:
    found = tuple(mutant(f"{i}") for i in range(5))
    cap = MutationSettings(per_operator=1, sample=1, per_instruction=1)
    assert chosen(found, cap=cap, mutants=("3", "4")) == ["3", "4"]


def test_ignored_mutants_take_nobodys_place() -> None:
    found = tuple(mutant(f"{i}") for i in range(5))
    kept = select_mutants(found, Selection(sample=2), MutationSettings(), ORIGIN, {"0", "1"})
    assert [m.id for m in kept] == ["0", "1", "2", "3"]


def test_a_sample_gives_small_operators_all_and_large_ones_equal_shares() -> None:
    found = tuple(
        mutant(f"{name}{i}", operator=f"prompt.{name}")
        for name, n in (("a", 9), ("b", 9), ("c", 1))
        for i in range(n)
    )
    assert [m.id for m in sampled(found, 5)] == ["a0", "a1", "b0", "b1", "c0"]
    assert sampled(found, 100) == found
    assert sampled(found, None) == found


def test_a_small_sample_has_mostly_mutants_that_count_in_the_score() -> None:
    calm = [mutant(f"a{i}", operator=f"prompt.c{i}", intent=Intent.PRESERVE) for i in range(9)]
    bad = [mutant(f"b{i}", operator=f"prompt.b{i}") for i in range(9)]
    assert chosen((*calm, *bad), sample=5) == ["a0", "b0", "b1", "b2", "b3"]
    assert chosen((*calm, *bad[:2]), sample=5) == ["a0", "a1", "a2", "b0", "b1"]
    assert chosen(tuple(calm), sample=2) == ["a0", "a1"]


IDS = st.integers(0, 400).map("{:04x}".format)
POOL = st.dictionaries(IDS, st.sampled_from(["prompt.a", "prompt.b", "tool.c"]), max_size=40)


@settings(max_examples=60, deadline=None)
@given(POOL, st.integers(1, 20), IDS, st.sampled_from(["prompt.a", "prompt.b", "prompt.new"]))
def test_a_mutant_more_moves_at_most_one_in_and_one_out(
    pool: dict[str, str], most: int, id_: str, operator: str
) -> None:
    pool.pop(id_, None)
    before = {m.id for m in sampled([mutant(i, operator=o) for i, o in pool.items()], most)}
    after = {
        m.id for m in sampled([mutant(i, operator=o) for i, o in (pool | {id_: operator}).items()], most)
    }
    assert len(after) == min(most, len(pool) + 1)
    assert len(before - after) <= 1
    assert len(after - before) <= 1
    if id_ not in after and operator not in pool.values():
        assert before == after
