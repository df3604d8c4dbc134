"""Comments to agentmut in a prompt: the agent does not get them, and places still are those of the file."""

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut._base.errors import ProjectError
from agentmut.campaign.selection.choosing import mutants_of
from agentmut.campaign.selection.locate import target_of
from agentmut.campaign.selection.selection import Selection
from agentmut.mutation.catalogue import OperatorCatalogue
from agentmut.mutation.generation import Generation
from agentmut.nouns.origin import Origin, Sources
from agentmut.project.config import read_config_file
from agentmut.project.ignore_comments import read_comments
from agentmut.project.schema import IgnoredMutant, MutationSettings

OPERATORS = ("prompt.drop_instruction", "prompt.synonym", "tool.remove")
PROMPT = """# Rules

- Always greet the customer.
<!-- agentmut: ignore: the closing line is cosmetic -->
- Always say goodbye.
- Never guess. {# agentmut: ignore prompt.drop_instruction: the schema forbids it too #}
- Check the order first.
"""


@pytest.fixture(autouse=True)
def _own_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))


def origin(root: Path, prompt: str) -> Origin:
    (root / "system.md").write_text(prompt)
    (root / "agent.yaml").write_text("prompt: system.md\n")
    return read_config_file(root / "agent.yaml")


def made(origin: Origin, *ignore: IgnoredMutant, **selection: tuple[str, ...]) -> Generation:
    return mutants_of(origin, Selection(**selection), MutationSettings(ignore=ignore), OperatorCatalogue({}))


def test_the_agent_gets_the_prompt_without_the_comments(tmp_path: Path) -> None:
    assert origin(tmp_path, PROMPT).config.prompt == (
        "# Rules\n\n- Always greet the customer.\n- Always say goodbye.\n- Never guess.\n- Check the order first.\n"
    )


def test_places_are_those_of_the_file_with_its_comments(tmp_path: Path) -> None:
    found = origin(tmp_path, PROMPT)
    places = {
        m.edits[0].before: target_of(m, found)
        for m in made(found, operators_named=("prompt.drop_instruction",)).mutants
    }
    assert [(t.path, t.line) for t in places.values()] == [
        ("system.md", 3), ("system.md", 5), ("system.md", 6), ("system.md", 7),
    ]  # fmt: skip


def test_a_comment_ignores_what_changes_its_line_and_nothing_else(tmp_path: Path) -> None:
    generation = made(origin(tmp_path, PROMPT), operators_named=("prompt.drop_instruction",))
    reasons = {m.description: generation.ignored.get(m.id) for m in generation.mutants}
    assert reasons == {
        'drop "Always greet the customer."': None,
        'drop "Always say goodbye."': "the closing line is cosmetic",
        'drop "Never guess."': "the schema forbids it too",
        'drop "Check the order first."': None,
    }


def test_a_comment_that_names_an_operator_lets_the_others_through(tmp_path: Path) -> None:
    generation = made(origin(tmp_path, "- Please check it.  <!-- agentmut: ignore tool: no tools here -->\n"))
    assert generation.mutants
    assert not generation.ignored
    assert generation.notes == (
        "system.md:1: this ignore comment matches no mutant (no tools here); remove it",
    )


def test_a_swap_with_a_line_that_is_not_ignored_is_not_ignored(tmp_path: Path) -> None:
    generation = made(origin(tmp_path, PROMPT), operators_named=("prompt.reorder_instructions",))
    assert generation.mutants
    assert not generation.ignored


def test_an_entry_that_fits_no_mutant_is_reported(tmp_path: Path) -> None:
    generation = made(origin(tmp_path, "- Be kind.\n"), IgnoredMutant(mutant="00000000", reason="old"))
    assert generation.notes == ("mutation.ignore: 00000000 (old) names no mutant now; remove the entry",)


def test_what_the_command_line_leaves_out_makes_nothing_stale(tmp_path: Path) -> None:
    entry = IgnoredMutant(mutant="00000000", reason="old")
    assert made(origin(tmp_path, PROMPT), entry, classes=("tool",)).notes == ()


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("a\n<!-- agentmut: ignore -->\nb", ["p.md:2", "cannot be read", "why it does not matter"]),
        ("<!-- agentmut: ignore: -->\nb", ["p.md:1", "no reason"]),
        ("<!-- agentmut: skip: x -->", ["p.md:1", "cannot be read"]),
        ("<!-- agentmut ignore: x -->", ["p.md:1", "cannot be read"]),
        ("a\n\n{# agentmut: ignore promt: x #}", ["p.md:3", "'promt'", "Did you mean 'prompt'?"]),
        ("<!-- agentmut: ignore prompt.drop_instructions: x -->", ["'prompt.drop_instruction'?"]),
        ("a\n<!-- agentmut: ignore: x\nb", ["p.md:2", "not closed"]),
        ("<!-- agentmut: ignore: x\n<!-- agentmut: ignore: y -->", ["p.md:1", "cannot be read"]),
    ],
)
def test_a_comment_that_cannot_be_read_is_refused_with_its_line(prompt: str, said: list[str]) -> None:
    with pytest.raises(ProjectError) as error:
        read_comments(prompt, "p.md", OPERATORS)
    assert [piece for piece in said if piece not in str(error.value)] == [], str(error.value)


def test_other_comments_stay_in_the_prompt() -> None:
    text = "<!-- a note -->\nask agentmut: it knows {# jinja #}\n"
    assert read_comments(text, "p.md", OPERATORS).text == text


def test_a_prompt_in_the_project_file_has_its_lines(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(
        "model: {name: m}\nprompt: |\n  Be kind.\n  <!-- agentmut: ignore: x -->\n  Never guess.\n"
    )
    found = read_config_file(tmp_path / "agent.yaml")
    assert found.config.prompt == "Be kind.\nNever guess.\n"
    assert found.sources.ignores[0].place.line == 4
    drops = made(found, operators_named=("prompt.drop_instruction",)).mutants
    assert [(target_of(m, found).path, target_of(m, found).line) for m in drops] == [
        ("agent.yaml", 3), ("agent.yaml", 5),
    ]  # fmt: skip


PIECES = st.sampled_from(
    ["Be kind.", "\n", "  ", "- x", "<!-- agentmut: ignore: r -->", "{# agentmut: ignore tool: r #}"]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES, max_size=14))
def test_every_character_that_is_kept_is_found_where_it_stands(pieces: list[str]) -> None:
    written = "".join(pieces)
    read = read_comments(written, "p.md", OPERATORS)
    sources = Sources(prompt="p.md", prompt_cuts=read.cuts)
    lines = written.split("\n")
    for offset, character in enumerate(read.text):
        line, column = sources.prompt_position(read.text, offset)
        if character != "\n":
            assert lines[line - 1][column - 1] == character
    assert "agentmut" not in read.text
    assert len(written) == len(read.text) + sum(len(cut.text) for cut in read.cuts)


@pytest.mark.parametrize(
    "prompt",
    [
        "```html\n<!-- agentmut: ignore: an example -->\n```\nBe kind.\n",
        "Be kind.\n\n~~~\n- a {# agentmut: whatever #}\n~~~",
        "Write `<!-- agentmut: ignore: why -->` before it.\n",
        "Write ``{# agentmut: ignore #}`` before it.\n",
        "```\n<!-- agentmut\nstays open\n",
    ],
)
def test_comments_in_code_are_code(prompt: str) -> None:
    assert read_comments(prompt, "system.md", OPERATORS).text == prompt


def test_a_comment_beside_code_is_read_and_the_code_kept() -> None:
    prompt = "Call `f()`. <!-- agentmut: ignore: a wish -->\nWrite `<!-- agentmut: x -->`.\n"
    read = read_comments(prompt, "system.md", OPERATORS)
    assert read.text == "Call `f()`.\nWrite `<!-- agentmut: x -->`.\n"
    assert [ignore.reason for ignore in read.ignores] == ["a wish"]


def test_the_marker_is_read_in_any_case() -> None:
    read = read_comments("Be kind. <!-- AgentMut: Ignore: a wish -->\n", "system.md", OPERATORS)
    assert (read.text, [ignore.reason for ignore in read.ignores]) == ("Be kind.\n", ["a wish"])


RULES = """---
name: rules
---
# Rules

- Always run the tests.
<!-- agentmut: ignore: a matter of taste -->
- Always write short messages.
- Never push. {# agentmut: ignore prompt.synonym: either word will do #}
- Always ask before a release.
"""


def in_workspace(root: Path, rules: str) -> Origin:
    (root / "AGENTS.md").write_text(rules)
    (root / "agent.yaml").write_text("prompt: Be kind.\ncontext: {workspace: [AGENTS.md]}\n")
    return read_config_file(root / "agent.yaml")


def test_files_of_a_workspace_have_such_comments_too(tmp_path: Path) -> None:
    found = in_workspace(tmp_path, RULES)
    [document] = found.config.context
    assert "agentmut" not in document.text and document.text.startswith("---\nname: rules\n---\n")
    generation = made(found, operators_named=("prompt.drop_instruction",))
    dropped = {str(m.edits[0].before): m for m in generation.mutants if m.edits[0].path[0] == "context"}
    places = [(target_of(m, found).path, target_of(m, found).line) for m in dropped.values()]
    assert places == [("AGENTS.md", 6), ("AGENTS.md", 8), ("AGENTS.md", 9), ("AGENTS.md", 10)]
    ignored = [before for before, m in dropped.items() if m.id in generation.ignored]
    assert [before.strip() for before in ignored] == ["- Always write short messages."]
    assert made(found, targets=("AGENTS.md:10",), operators_named=("prompt.drop_instruction",)).mutants


def test_a_comment_in_a_file_of_a_workspace_that_cannot_be_read_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"AGENTS\.md:2: this comment gives no reason"):
        in_workspace(tmp_path, "- Never guess.\n<!-- agentmut: ignore: -->\n- Be brief.\n")


def test_a_comment_in_a_file_of_a_workspace_under_which_nothing_falls_is_stale(tmp_path: Path) -> None:
    found = in_workspace(tmp_path, RULES.replace("Never push.", "See `README`."))
    assert any("AGENTS.md:9: this ignore comment matches no mutant" in note for note in made(found).notes)
