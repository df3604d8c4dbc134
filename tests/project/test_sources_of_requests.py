"""Mutants of a saved request point to the files in which the user wrote its texts."""

import json
from pathlib import Path

import pytest

from agentmut.campaign.selection.choosing import mutants_of
from agentmut.campaign.selection.locate import spot, target_of
from agentmut.campaign.selection.selection import Selection
from agentmut.mutation.catalogue import OperatorCatalogue
from agentmut.nouns.origin import Origin
from agentmut.project.config import read_config_file
from agentmut.project.recorded_request import read_request_file
from agentmut.project.request_sources import with_sources
from agentmut.project.schema import MutationSettings

LOOK = {"name": "look_up", "description": "Finds the state of an order.", "parameters": {"type": "object"}}
PROMPT = """You are the help desk of Fernhill Bikes. Be brief in all that you say.

- Always greet the customer with "Hello".
- Be kind.
- Today is {date}, so check the opening hours.
- Never promise a delivery date.
"""
IN_A_FILE = PROMPT.replace("{date}", "$TODAY")
IN_CODE = '''"""A desk."""

SYSTEM = (
    "You are the help desk of Fernhill Bikes. "
    "Be brief in all that you say.\\n\\n"
    "- Always greet the customer with \\"Hello\\".\\n"
    "- Be kind.\\n"
    f"- Today is {today}, so check the opening hours.\\n"
    "- Never promise a delivery date.\\n"
)

TOOLS = [
    {
        "name": "look_up",
        "description": "Finds the state of an order.",
    },
]
'''


def saved(root: Path, files: dict[str, str], prompt: str = PROMPT) -> Origin:
    """Return the agent of a request that was saved beside these files."""
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    messages = [{"role": "system", "content": prompt}, {"role": "user", "content": "Hi"}]
    request = {"model": "m", "messages": messages, "tools": [{"type": "function", "function": LOOK}]}
    (root / "agent.json").write_text(json.dumps(request))
    text = with_sources(json.dumps(request), read_request_file(root / "agent.json").config, root)
    (root / "agent.json").write_text(text)
    (root / "agent.yaml").write_text("request: agent.json\n")
    return read_config_file(root / "agent.yaml")


def places(origin: Origin) -> dict[str, tuple[str | None, int | None, int | None]]:
    """Return the place of each dropped instruction, and of the removed tool, by their text."""
    chosen = Selection(operators_named=("prompt.drop_instruction", "tool.remove"))
    found = mutants_of(origin, chosen, MutationSettings(), OperatorCatalogue({})).mutants
    targets = {mutant.description.partition(" ")[2]: target_of(mutant, origin) for mutant in found}
    return {text: (target.path, target.line, target.column) for text, target in targets.items()}


def test_lines_of_a_file_of_text_have_line_and_column(tmp_path: Path) -> None:
    found = places(saved(tmp_path, {"prompts/desk.md": f"# Desk\n\n{IN_A_FILE}"}))
    assert found['"Always greet the customer with "Hello"."'] == ("prompts/desk.md", 5, 1)
    assert found['"Never promise a delivery date."'] == ("prompts/desk.md", 8, 1)
    assert found["the tool look_up"] == ("agent.json", None, None)  # its text stands in no file


def test_a_short_line_and_one_that_moves_stand_between_their_neighbours(tmp_path: Path) -> None:
    found = places(saved(tmp_path, {"desk.md": IN_A_FILE}))
    assert found['"Be kind."'] == ("desk.md", 4, None)
    assert all(where[0] == "desk.md" for text, where in found.items() if "tool" not in text)


def test_sentences_that_code_writes_on_lines_of_their_own_have_these_lines(tmp_path: Path) -> None:
    """A quotation mark that code escapes is found too, without its column."""
    found = places(saved(tmp_path, {"desk.py": IN_CODE}))
    assert found['"You are the help desk of Fernhill Bikes."'] == ("desk.py", 4, 6)
    assert found['"Be brief in all that you say."'] == ("desk.py", 5, 6)
    assert found['"Always greet the customer with "Hello"."'] == ("desk.py", 6, None)
    assert found['"Never promise a delivery date."'] == ("desk.py", 9, 6)
    assert found["the tool look_up"] == ("desk.py", 14, None)


def test_a_file_of_text_comes_before_code_that_quotes_it(tmp_path: Path) -> None:
    found = places(saved(tmp_path, {"a.py": f'EXPECTED = """{IN_A_FILE}"""\n', "prompt.txt": IN_A_FILE}))
    assert found['"Never promise a delivery date."'] == ("prompt.txt", 6, 1)


def test_a_line_that_stands_twice_is_the_one_behind_the_line_before(tmp_path: Path) -> None:
    other = "- Never promise a delivery date.\n\n"
    found = places(saved(tmp_path, {"desk.md": other + IN_A_FILE}))
    assert found['"Never promise a delivery date."'] == ("desk.md", 8, 1)


def test_a_request_that_was_saved_earlier_points_to_the_lines_of_today(tmp_path: Path) -> None:
    saved(tmp_path, {"desk.md": IN_A_FILE})
    (tmp_path / "desk.md").write_text("# Moved down\n\n\n" + IN_A_FILE)
    assert places(read_config_file(tmp_path / "agent.yaml"))['"Never promise a delivery date."'][1] == 9
    (tmp_path / "desk.md").unlink()
    gone = places(read_config_file(tmp_path / "agent.yaml"))
    assert gone['"Never promise a delivery date."'] == ("agent.json", None, None)


def test_a_request_alone_points_to_the_same_lines(tmp_path: Path) -> None:
    saved(tmp_path, {"desk.md": IN_A_FILE})
    assert places(read_request_file(tmp_path / "agent.json"))['"Never promise a delivery date."'][1] == 6


def test_a_source_outside_the_project_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "desk.md").write_text(IN_A_FILE)
    root = tmp_path / "project"
    root.mkdir()
    saved(root, {})
    request = json.loads((root / "agent.json").read_text()) | {"sources": {"../desk.md": {"lines": 4}}}
    (root / "agent.json").write_text(json.dumps(request))
    assert not read_config_file(root / "agent.yaml").sources.prompt_parts


@pytest.mark.parametrize("target", ["desk.md:4-6", "desk.md", "agent.json"])
def test_a_target_names_the_file_of_the_user_or_the_request(target: str, tmp_path: Path) -> None:
    origin = saved(tmp_path, {"desk.md": IN_A_FILE})
    chosen = Selection(operators_named=("prompt.drop_instruction",), targets=(target,))
    found = mutants_of(origin, chosen, MutationSettings(), OperatorCatalogue({})).mutants
    lines = [spot(mutant.places[0], origin).target.line for mutant in found]
    assert len(lines) >= 3 if target == "agent.json" else set(lines) >= {4, 6}


def test_a_changed_sentence_makes_the_request_old(tmp_path: Path) -> None:
    """The prompt is one line, and code writes each sentence on a line of its own."""
    prompt = "You are the help desk of Fernhill Bikes. Never promise a delivery date."
    code = 'S = (\n    "You are the help desk of Fernhill Bikes. "\n    "Never promise a delivery date."\n)\n'
    saved(tmp_path, {"desk.py": code}, prompt)
    kept = json.loads((tmp_path / "agent.json").read_text())["sources"]
    assert kept == {"desk.py": {"lines": 0, "sentences": 2, "others": 0}}
