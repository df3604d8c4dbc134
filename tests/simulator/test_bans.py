"""What a prohibition stops, and what it does not, in words of fields that no desk of the tests has."""

from collections.abc import Callable
from typing import Any

import pytest

from agentmut.nouns.tools import ToolSpec
from agentmut.simulator.mind.rules import Rule
from agentmut.simulator.mind.saying import is_speech
from agentmut.simulator.mind.sequence import read_rules
from agentmut.simulator.mind.toolbox import Toolbox, open_toolbox


def tool(name: str, description: str, *arguments: str) -> ToolSpec:
    properties = {argument: {"type": "string"} for argument in arguments}
    parameters = {"type": "object", "properties": properties, "required": list(arguments)}
    return ToolSpec(name=name, description=description, parameters=parameters)


TOOLS = (
    tool("open_gate", "Open a gate of the zoo, or a cage."),
    tool("feed_animal", "Feed an animal from its keeper's stock."),
    tool("validate_badge", "Look a keeper up by the badge number.", "badge_number"),
    tool("remove_sign", "Take a sign down."),
)


@pytest.fixture
def toolbox() -> Toolbox:
    return open_toolbox(TOOLS)


def rules(prompt: str) -> list[Rule]:
    return list(read_rules(prompt))


@pytest.mark.parametrize(
    ("banned", "tools"),
    [
        ("open a gate", ("open_gate",)),
        ("opening gates or cages", ("open_gate",)),
        ("feed anything", ("feed_animal",)),
        ("delete signs", ("remove_sign",)),
        ("Gates must never be opened by guests", ("open_gate",)),
        ("call remove_sign", ("remove_sign",)),
        ("post badge numbers", ()),
        ("reveal where the keeper keeps a gate open", ()),
        ("support animals, signs or cages", ()),
        ("promise that a gate opens", ()),
        ("guess the age of an animal", ()),
        ("open letters of keepers", ()),
    ],
)
def test_a_ban_on_a_tool_names_its_verb_and_its_object(
    toolbox: Toolbox, banned: str, tools: tuple[str, ...]
) -> None:
    assert toolbox.forbidden(banned) == tools


def test_confirming_is_checking_where_a_tool_checks(toolbox: Toolbox) -> None:
    assert not is_speech("Confirm the badge of whoever writes", toolbox)
    assert toolbox.tools_for("Confirm the badge of whoever writes") == ("validate_badge",)
    assert is_speech("Confirm that the gate is open", toolbox)
    assert is_speech("ask the keeper for a badge", toolbox)


def test_an_order_is_stopped_by_no_ban_on_something_else(converse: Callable[..., Any], share: Any) -> None:
    prompt = "- If an animal is hungry, feed the animal.\n- Never feed rumours about the keeper."

    def fed(trial: str) -> bool:
        said = converse(prompt, "A hungry animal is here.", tools=TOOLS, trial=trial)
        return "feed_animal" in said.tools

    assert share(fed, 40) >= 0.9


def test_a_heading_is_not_the_condition_of_what_people_should_do() -> None:
    (rule,) = rules(
        "- **Bites:** anyone who touched a snake or a spider should sit down and ring 55 at once."
    )
    (step,) = rule.clauses
    assert step.phrase == "tell them to sit down and ring 55 at once"
    assert step.when is not None
    assert step.when.text == "anyone who touched a snake or a spider"


@pytest.mark.parametrize("tail", ["", ", so ask for that first", ", so please ask them for it"])
def test_what_is_done_only_with_something_asks_for_it_first(tail: str) -> None:
    (rule,) = rules(f"Night visits are allowed only with a note of the keeper{tail}.")
    (step,), (order,) = rule.clauses, rule.orders
    assert (step.phrase, step.forbids, order.first) == (
        "ask for a note of the keeper",
        False,
        "ask for a note of the keeper",
    )
    assert step.when is not None
    assert step.when.text == "Night visits"


def test_a_step_that_only_points_elsewhere_is_dropped() -> None:
    assert [rule.clauses for rule in rules("Ask for that first. Tell them about it.")] == [(), ()]


def test_a_statement_about_what_a_tool_does_is_no_order(toolbox: Toolbox) -> None:
    said = "Animals are hungry when their keeper leaves"
    assert not toolbox.orders(said)
    assert toolbox.orders("Feed hungry animals")
