"""Mutants that add text stand where what they are about stands, not where the text goes in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentmut.campaign.selection.choosing import mutants_of
from agentmut.campaign.selection.locate import target_of
from agentmut.campaign.selection.selection import Selection
from agentmut.mutation.catalogue import OperatorCatalogue
from agentmut.mutation.difference import changes
from agentmut.mutation.generation import Generation, generate
from agentmut.mutation.higher_order import pair
from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.mutant import About, Candidate, Mutant, prompt_edit
from agentmut.nouns.origin import Origin, Sources
from agentmut.project.config import read_config_file
from agentmut.project.schema import MutationSettings
from agentmut.seams.make_operator import operator
from agentmut.seams.protocols.operator import Example, OperatorOptions
from agentmut.testing import check_operator

PROMPT = "# Rules\n\n- Always ask for the order number.\n- Be polite.\n\n- Answer in one sentence.\n"
IN_FILE = Origin(config=AgentConfig(prompt=PROMPT), sources=Sources(prompt="system.md"), file="agentmut.yaml")


def made(
    origin: Origin, *operators: str, per_instruction: int | None = None, **selection: object
) -> Generation:
    chosen = Selection(operators_named=operators, **selection)
    settings = MutationSettings(per_instruction=per_instruction)
    return mutants_of(origin, chosen, settings, OperatorCatalogue({}))


def lines(origin: Origin, *operators: str) -> list[int | None]:
    return [target_of(mutant, origin).line for mutant in made(origin, *operators).mutants]


def documents(*texts: str) -> Origin:
    context = tuple(Document(name=f"{number}.md", text=text) for number, text in enumerate(texts))
    return Origin(config=AgentConfig(context=context), file="agentmut.yaml")


def test_a_repeated_or_contradicted_rule_stands_at_the_rule() -> None:
    assert lines(IN_FILE, "prompt.duplicate") == [3, 4, 6]
    assert lines(IN_FILE, "prompt.contradict") == [3]


def test_changed_blanks_stand_where_they_are() -> None:
    assert lines(IN_FILE, "prompt.whitespace") == [2, 3, 3]


def test_what_is_added_at_the_end_stands_on_the_last_line() -> None:
    assert lines(IN_FILE, "prompt.inject_contradiction") == [6, 6]
    fenced = Origin(
        config=AgentConfig(prompt="Be kind.\n```\nx\n```\n"), sources=IN_FILE.sources, file="a.yaml"
    )
    assert lines(fenced, "prompt.inject_contradiction") == [4, 4]


def test_additions_to_a_block_stay_inside_the_block(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(
        "prompt: |\n  - Be polite.\n  - Never guess.\nmodel: {name: large}\n"
    )
    origin = read_config_file(tmp_path / "agent.yaml")
    added = made(origin, "prompt.duplicate", "prompt.inject_noise", "prompt.contradict").mutants
    assert {target_of(mutant, origin).line for mutant in added} == {2, 3}


def test_a_target_chooses_the_repetition_of_its_own_rule() -> None:
    found = made(IN_FILE, "prompt.duplicate", targets=("system.md:4",))
    assert [m.description for m in found.mutants] == ['repeat "Be polite."']


def test_a_change_of_the_last_line_is_not_touched_by_what_is_about_nothing_in_it() -> None:
    old = IN_FILE.config.model_copy(update={"prompt": PROMPT.replace("one", "a")})
    found = made(
        IN_FILE,
        "prompt.inject_*",
        "prompt.contradict",
        "prompt.duplicate",
        changes=changes(old, IN_FILE.config),
    )
    assert [m.description for m in found.mutants] == ['repeat "Answer in one sentence."']


def test_a_comment_ignores_the_repetition_of_its_own_rule_only(tmp_path: Path) -> None:
    said = "- Pay refunds to the card.\n- Tell the delivery time. <!-- agentmut: ignore: it is a wish -->\n"
    (tmp_path / "system.md").write_text(said)
    (tmp_path / "agent.yaml").write_text("prompt: system.md\n")
    found = made(read_config_file(tmp_path / "agent.yaml"), "prompt.duplicate", "prompt.inject_noise")
    assert [m.description for m in found.mutants if m.id in found.ignored] == [
        'repeat "Tell the delivery time."'
    ]


def test_a_cap_counts_a_repetition_with_its_own_rule() -> None:
    found = made(IN_FILE, "prompt.duplicate", "prompt.drop_instruction", per_instruction=1)
    assert sorted(target_of(m, IN_FILE).line or 0 for m in found.mutants) == [3, 4, 6]


def test_a_contradicted_fact_stands_at_the_sentence_and_the_copy_of_a_document_at_the_document() -> None:
    origin = documents("Gifts are final.\n\nRefunds take 5 days.\n", "Returns are free.\n")
    contradicted = made(origin, "context.contradict_fact").mutants
    places = [(t.path, t.line) for t in (target_of(m, origin) for m in contradicted)]
    assert places == [("0.md", 1), ("0.md", 3), ("1.md", 1)]
    copies = made(origin, "context.duplicate_document").mutants
    assert [target_of(m, origin).path for m in copies] == ["0.md", "1.md"]


def test_an_irrelevant_document_touches_a_changed_list_and_no_changed_document() -> None:
    origin = documents("Gifts are final.\n", "Returns are free.\n")
    rewritten = changes(documents("Gifts are final.\n", "Returns cost.\n").config, origin.config)
    assert made(origin, "context.inject_noise", changes=rewritten).mutants == ()
    assert [m.subject for m in made(origin, "context.duplicate_document", changes=rewritten).mutants] == [
        "1.md"
    ]
    longer = changes(documents("Gifts are final.\n").config, origin.config)
    assert len(made(origin, "context.inject_noise", changes=longer).mutants) == 2


def test_a_pair_belongs_where_both_of_its_parts_belong() -> None:
    repeated = made(IN_FILE, "prompt.duplicate").mutants[1]
    dropped = next(m for m in made(IN_FILE, "prompt.drop_instruction").mutants if "sentence" in m.description)
    both = pair(repeated, dropped, IN_FILE.config)
    assert isinstance(both, Mutant)
    assert set(both.places) == {*repeated.places, *dropped.places}


@operator(
    "prompt.stray",
    why="A test.",
    examples=[Example(AgentConfig(prompt="a"), AgentConfig(prompt="b"))],
)
def stray(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Says that it is about a place that is not there."""
    if config.prompt:
        yield Candidate(
            edits=(prompt_edit(config.prompt, 0, 1, "b"),), description="x", anchor="x",
            about=(About(pointer="/prompt", span=(5, 5_000)),),
        )  # fmt: skip


def test_a_place_that_the_config_does_not_have_is_refused() -> None:
    generation = generate(AgentConfig(prompt="a"), [stray()], OperatorOptions())
    assert generation.mutants == ()
    assert "it is about 5 to 5000 of /prompt" in generation.dropped[0].reason
    with pytest.raises(AssertionError, match="it is about the characters 5 to 5000 of /prompt"):
        check_operator(stray)
