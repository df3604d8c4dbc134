"""Relations of a few lines, those of a project, and which ones a project file asks for."""

from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import PluginError, ProjectError, UsageError
from agentmut.judging.facts.comparison import comparison_for
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.relation import Expectation, FollowUp, FollowUpRun, Pair, Source
from agentmut.nouns.trace import Check
from agentmut.project.loading import load_project
from agentmut.relations.base import run, source
from agentmut.seams.make_relation import plain_text, relation
from agentmut.seams.plugins import Group, names
from agentmut.seams.protocols.relation import RelationExample
from agentmut.seams.relation_catalogue import RelationCatalogue
from agentmut.testing import check_relation

ASKED = source("What does it cost?", answer="It costs $20.")
HELD = RelationExample(ASKED, (run("THE PRICE IS $20!"),), holds=True)
BROKEN = RelationExample(ASKED, (run("It costs $2."),), holds=False)


def shouting(source: Source) -> FollowUp:
    """The request in capitals."""
    turns = tuple(str(turn).upper() for turn in source.scenario.turns)
    return FollowUp(runs=(FollowUpRun(turns=turns),), description="the request in capitals")


def defined(follow: Any = shouting, **changes: Any) -> Any:
    given: dict[str, Any] = {
        "why": "Capitals change the answer.",
        "examples": [HELD, BROKEN],
        "lack": plain_text,
    }
    given |= changes
    return relation(given.pop("id", "perturbation.shouting"), **given)(follow)


def judged(kind: Any, said: str) -> Check | None:
    built = kind(None)
    follow_up = built.follow_up(ASKED)
    assert isinstance(follow_up, FollowUp)
    comparison = comparison_for(ASKED.scenario)
    found = built.holds(Pair(ASKED.scenario, ASKED.config, ASKED.trace, follow_up, (run(said),), comparison))
    assert found is None or isinstance(found, Check)
    return found


def test_a_relation_of_a_few_lines_is_sound_and_compares_facts() -> None:
    check_relation(defined())
    held, broken = judged(defined(), "20 dollars."), judged(defined(), "21 dollars.")
    assert held is not None and held.passed and held.evaluator == "perturbation.shouting"
    assert broken is not None and not broken.passed and "21" in broken.reason


def test_a_predicate_says_itself_whether_it_holds() -> None:
    polite = defined(
        id="oracle.polite",
        expectation=Expectation.PREDICATE,
        holds=lambda pair: None if not pair.trace.text.strip() else "please" in pair.trace.text.lower(),
        examples=[
            RelationExample(ASKED, (run("Please pay $20."),), holds=True),
            RelationExample(ASKED, (run("Pay."),), holds=False),
        ],
    )
    check_relation(polite)
    assert judged(polite, "") is None


def test_what_cannot_be_a_relation_is_refused_as_it_is_defined() -> None:
    with pytest.raises(ValueError, match="give `holds`"):
        defined(expectation=Expectation.PREDICATE)
    with pytest.raises(ValueError, match=r"family\.name"):
        defined(id="shouting")
    with pytest.raises(ValueError, match="takes no argument"):
        defined()("loud")


RELATIONS = """
from agentmut.seams.make_relation import plain_text, relation
from agentmut.nouns.relation import FollowUp, FollowUpRun


@relation("{id}", why="Capitals change the answer.", examples=[], lack=plain_text)
def shouting(source):
    turns = tuple(turn.upper() for turn in source.scenario.turns)
    return FollowUp(runs=(FollowUpRun(turns=turns),), description="the request in capitals")


def no_relation(source):
    return None
"""
PROJECT = """
version: 1
agent: {{adapter: python, run: own_agent:run, config: {{prompt: Help.}}}}
suite: {{scenarios: scenarios.yaml}}
relations: {relations}
"""


def project(folder: Path, module: str, relations: str, id_: str = "perturbation.shouting") -> Path:
    (folder / f"{module}.py").write_text(RELATIONS.replace("{id}", id_))
    (folder / "own_agent.py").write_text("def run(config, input):\n    return config.prompt\n")
    (folder / "scenarios.yaml").write_text('- {name: a, input: b, evaluators: [{contains: "Help"}]}\n')
    (folder / "agentmut.yaml").write_text(PROJECT.format(relations=relations))
    return folder


def test_a_project_uses_relations_of_its_own(tmp_path: Path) -> None:
    written = "{own: ['own_relations_1:shouting'], use: [perturbation.shouting, oracle.no_change]}"
    loaded = load_project(project(tmp_path, "own_relations_1", written))
    catalogue = RelationCatalogue.from_references(loaded.relations.own, loaded.root)
    chosen = catalogue.choose(loaded.relations.use)
    assert [one.label for one in chosen.relations] == ["perturbation.shouting", "oracle.no_change"]
    follow_up = chosen.relations[0].relation.follow_up(ASKED)
    assert follow_up is not None and follow_up.runs[0].turns == ("WHAT DOES IT COST?",)


@pytest.mark.parametrize(
    ("module", "relations", "id_", "said"),
    [
        (
            "own_relations_2",
            "{own: ['own_relations_2:shouting']}",
            "oracle.no_change",
            "which another relation has",
        ),
        ("own_relations_3", "{own: ['own_relations_3:no_relation']}", "oracle.x", "is no relation"),
        ("own_relations_4", "{own: ['own_relations_4:shoutin']}", "oracle.x", "Did you mean 'shouting'"),
        ("own_relations_5", "{own: ['nowhere:shouting']}", "oracle.x", "there is no module"),
        ("own_relations_6", "{use: [oracle.no_chance]}", "oracle.x", "Did you mean 'oracle.no_change'"),
        ("own_relations_7", "{use: [oracle.format: yaml]}", "oracle.x", "unknown format 'yaml'"),
        ("own_relations_8", "{use: [oracle.round_trip]}", "oracle.x", "expects a mapping with there, back"),
    ],
)
def test_wrong_relations_are_named_when_the_project_is_read(
    tmp_path: Path, module: str, relations: str, id_: str, said: str
) -> None:
    with pytest.raises(ProjectError) as raised:
        load_project(project(tmp_path, module, relations, id_))
    assert said in str(raised.value) and "relations." in str(raised.value)


def test_families_globs_and_arguments_choose_relations() -> None:
    catalogue = RelationCatalogue({})
    everything = catalogue.choose(None)
    assert {one.name for one in everything.relations} | {*everything.needs_argument} == {
        *names(Group.RELATIONS)
    }
    assert "there" in everything.needs_argument["oracle.round_trip"]
    family = catalogue.choose(["oracle", "oracle.no_change"])
    assert all(one.name.startswith("oracle.") for one in family.relations)
    assert [one.name for one in family.relations].count("oracle.no_change") == 1
    given = catalogue.choose(["oracle", {"oracle.format": "json"}, {"oracle.format": "csv"}])
    labels = [one.label for one in given.relations if one.name == "oracle.format"]
    assert labels == ['oracle.format: "json"', 'oracle.format: "csv"']
    assert {one.name for one in catalogue.choose(["*.no_*"]).relations} == {"oracle.no_change"}


def test_what_a_project_may_not_name_is_said() -> None:
    catalogue = RelationCatalogue({})
    with pytest.raises(UsageError, match=r"Did you mean 'oracle'"):
        catalogue.choose(["oracl"])
    with pytest.raises(PluginError, match=r"unknown relation 'oracle\.nothing'"):
        catalogue.choose([{"oracle.nothing": 1}])
    with pytest.raises(UsageError, match=r"relations: \{own: \['mine:Greeting'\]\}"):
        catalogue.choose(["mine:Greeting"])
    with pytest.raises(
        UsageError, match=r"then\. Give it in agentmut\.yaml: relations: \{use: \[\{composition\.pipe"
    ):
        catalogue.choose(["composition.pipeline"])
    assert not any("got None" in said for said in catalogue.choose(None).needs_argument.values())
    with pytest.raises(PluginError, match="raised"):
        RelationCatalogue({"oracle.broken": broken_constructor()}).build("oracle.broken")


def broken_constructor() -> Any:
    class Broken(defined()):  # type: ignore[misc]
        id = "oracle.broken"

        def __init__(self, argument: Any) -> None:
            raise KeyError("oops")

    Broken.family = defined(id="oracle.broken").family
    return Broken


def test_the_config_is_of_no_account_to_a_change_of_words() -> None:
    assert plain_text(source({"a": 1}).scenario, AgentConfig()) == "its turns are no plain text"
