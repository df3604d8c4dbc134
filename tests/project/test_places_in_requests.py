"""Where mutants of an agent stand whose config is a recorded request."""

import json
from pathlib import Path

from agentmut.campaign.selection.choosing import mutants_of
from agentmut.campaign.selection.locate import changed_text, target_of
from agentmut.campaign.selection.selection import Selection
from agentmut.mutation.catalogue import OperatorCatalogue
from agentmut.project.config import read_config_file
from agentmut.project.schema import MutationSettings

LOOK = {"name": "look_up", "description": "Finds.", "parameters": {"type": "object", "properties": {}}}
REQUEST = {
    "model": "sim-large",
    "temperature": 0.5,
    "seed": 3,
    "messages": [
        {"role": "system", "content": "- Always greet.\\n- Never swear."},
        {"role": "user", "content": "Hi"},
    ],
    "tools": [{"type": "function", "function": LOOK}],
}
OPERATORS = ("prompt.drop_instruction", "tool.rename", "model.raise_temperature", "model.drop_seed")


def test_mutants_point_at_the_recorded_request_except_where_the_project_says_it(tmp_path: Path) -> None:
    (tmp_path / "agent.json").write_text(json.dumps(REQUEST))
    (tmp_path / "agent.yaml").write_text("request: agent.json\nmodel: {temperature: 0.1}\n")
    origin = read_config_file(tmp_path / "agent.yaml")

    def places(*targets: str) -> dict[str, str | None]:
        selection = Selection(operators_named=OPERATORS, targets=targets)
        found = mutants_of(origin, selection, MutationSettings(), OperatorCatalogue({})).mutants
        return {mutant.operator: target_of(mutant, origin).path for mutant in found}

    assert places() == {
        "prompt.drop_instruction": "agent.json",
        "tool.rename": "agent.json",
        "model.drop_seed": "agent.json",
        "model.raise_temperature": "agent.yaml",
    }
    assert set(places("agent.json")) == set(OPERATORS) - {"model.raise_temperature"}


def test_a_renamed_tool_does_not_read_as_if_the_old_name_were_offered_too(tmp_path: Path) -> None:
    (tmp_path / "agent.json").write_text(json.dumps(REQUEST))
    (tmp_path / "agent.yaml").write_text("request: agent.json\n")
    origin = read_config_file(tmp_path / "agent.yaml")
    selection = Selection(operators_named=("tool.rename",))
    (mutant, *_) = mutants_of(origin, selection, MutationSettings(), OperatorCatalogue({})).mutants
    before, after = changed_text(mutant)
    assert before == "look_up" and after and "look_up" not in after.splitlines()


def test_agentmuts_own_word_for_a_changed_transcript_is_no_text_of_the_change(tmp_path: Path) -> None:
    (tmp_path / "agent.json").write_text(json.dumps(REQUEST))
    (tmp_path / "agent.yaml").write_text("request: agent.json\n")
    origin = read_config_file(tmp_path / "agent.yaml")
    selection = Selection(operators_named=("context.blank_arguments",))
    (mutant,) = mutants_of(origin, selection, MutationSettings(), OperatorCatalogue({})).mutants
    assert changed_text(mutant) == ("", "")
    assert mutant.description == "take the arguments from earlier calls"
