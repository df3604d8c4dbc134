"""The page on mutants: its operator is sound, and can be named in a project as it says."""

import re
from pathlib import Path
from typing import Any

import yaml

from agentmut.mutation.catalogue import OperatorCatalogue
from agentmut.nouns.flow import Flow
from agentmut.project.schema import MutationSettings

PAGE = (Path(__file__).parents[2] / "docs" / "mutants.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_operator_of_the_page_is_sound_and_can_be_used(tmp_path: Path) -> None:
    defined, tested = blocks("python")
    (tmp_path / "my_operators.py").write_text(defined)
    named = next(block for block in blocks("yaml") if "own_operators" in block)
    references = yaml.safe_load(named)["mutation"]["own_operators"]
    catalogue = OperatorCatalogue.from_references(references, tmp_path)
    assert "prompt.drop_greeting" in catalogue.names
    space: dict[str, Any] = {"drop_greeting": type(catalogue.load("prompt.drop_greeting"))}
    exec(compile(tested, "mutants.md", "exec"), space)
    space["test_the_greeting_is_dropped_soundly"]()


def test_the_flow_of_the_page_is_one_that_operators_know() -> None:
    written = next(block for block in blocks("yaml") if block.startswith("orchestration"))
    flow = Flow.from_orchestration(yaml.safe_load(written)["orchestration"])
    assert flow.max_steps == 12 and len(flow.branches) == 1


def test_the_page_explains_every_key_of_the_mutation_section() -> None:
    section = PAGE.partition("## Settings")[2]
    named = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]+)\|", section, re.MULTILINE))))
    assert named == set(MutationSettings.model_fields)


def test_the_page_explains_every_fault() -> None:
    section = PAGE.partition("## Results that go wrong")[2].partition("## Settings")[0]
    operators = OperatorCatalogue({}).names
    faults = {name.removeprefix("tool.") for name in operators if name.startswith("tool.result_")}
    assert set(re.findall(r"`(result_\w+)`", section)) == faults
