"""What docs/relations.md and docs/survivors.md show is so: relations, settings, extractors, verbs, Python."""

import re
from pathlib import Path

import pytest

from agentmut.cli import VERBS
from agentmut.insight.coverage.nouns import Dimension
from agentmut.judging.facts.registry import EXTRACTORS
from agentmut.project.loading import load_project
from agentmut.seams.plugins import Group, load_all
from agentmut.seams.protocols.relation import HasExampleArgument
from agentmut.testing import check_relation
from tests.docs.shown_blocks import blocks

DOCS = Path(__file__).parents[2] / "docs"
RELATIONS = (DOCS / "relations.md").read_text()
SURVIVORS = (DOCS / "survivors.md").read_text()
PROJECT = """\
version: 1
agent: {adapter: python, run: my_agent:run, config: {prompt: Be kind.}}
"""


def test_every_relation_is_listed_with_what_it_expects_and_why() -> None:
    rows = re.findall(r"\| `([\w.]+)`( \(argument\))? \| (\w+) \| (.*) \|\n", RELATIONS)
    known = load_all(Group.RELATIONS)
    assert {name: (expects, why) for name, _, expects, why in rows} == {
        name: (relation.expectation.value, relation.why) for name, relation in known.items()
    }
    assert {name for name, argument, *_ in rows if argument} == {
        name for name, relation in known.items() if issubclass(relation, HasExampleArgument)
    }


def test_every_extractor_is_listed() -> None:
    table = RELATIONS[RELATIONS.index("| extractor") : RELATIONS.index("By default, agentmut compares")]
    assert set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)))) == set(
        EXTRACTORS
    )


def test_every_dimension_is_listed() -> None:
    table = SURVIVORS[SURVIVORS.index("| dimension") : SURVIVORS.index("Overall is")]
    named = ", ".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE)[2:]).split(", ")
    assert set(named) == {dimension.value for dimension in Dimension}


@pytest.mark.parametrize("page", [RELATIONS, SURVIVORS])
def test_the_settings_shown_are_read(page: str, tmp_path: Path) -> None:
    (tmp_path / "scenarios").mkdir()
    scenario = blocks(RELATIONS, "yaml")[1]
    (tmp_path / "scenarios" / "all.yaml").write_text(scenario)
    (tmp_path / "agentmut.yaml").write_text(PROJECT + blocks(page, "yaml")[0])
    assert load_project(tmp_path).scenarios[0].compare


@pytest.mark.parametrize("page", [RELATIONS, SURVIVORS])
def test_the_verbs_and_options_shown_exist(page: str) -> None:
    commands = re.findall(r"(?:^|`)agentmut (\w+)([^`\n#]*)", page, re.MULTILINE)
    assert commands
    for verb, options in commands:
        assert verb in VERBS
        source = (DOCS.parent / "agentmut" / "cli" / "verbs" / f"{verb}_verb.py").read_text()
        for option in re.findall(r"--\w+", options):
            assert f'"{option}"' in source or option in ("--yes", "--json")


def test_the_relation_shown_is_a_sound_one() -> None:
    shown: dict[str, object] = {}
    exec(blocks(RELATIONS, "python")[0], shown)
    check_relation(shown["shouting"])  # type: ignore[arg-type]


def test_the_property_test_shown_passes() -> None:
    shown: dict[str, object] = {}
    exec(blocks(SURVIVORS, "python")[0], shown)
    shown["test_refunds_stay_within_the_limit"]()  # type: ignore[operator]
