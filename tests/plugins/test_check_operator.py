"""`agentmut.testing.check_operator` passes sound operators and names what is wrong with others."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from agentmut import testing
from agentmut.config import AgentConfig
from agentmut.mutant import Candidate, Edit, Intent, Reach, prompt_edit
from agentmut.operator import operator
from agentmut.plugins import load_all
from agentmut.protocols import Example, OperatorOptions
from agentmut.testing import check_operator

EXAMPLE = Example(AgentConfig(prompt="Hello. Bye."), AgentConfig(prompt="Bye."))


def drop_hello(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """The greeting is gone."""
    at = config.prompt.find("Hello. ")
    if at >= 0:
        yield Candidate(
            edits=(prompt_edit(config.prompt, at, at + 7, ""),), description="drop Hello", anchor="Hello"
        )


def defined(find: Any, **changes: Any) -> Any:
    given: dict[str, Any] = {"why": "It happens.", "examples": [EXAMPLE], **changes}
    return operator(given.pop("id", "prompt.drop_hello"), **given)(find)


@pytest.mark.parametrize("built_in", load_all("operators").values(), ids=load_all("operators"))
def test_every_built_in_operator_is_sound(built_in: Any) -> None:
    check_operator(built_in)


def test_an_operator_of_a_few_lines_is_sound() -> None:
    check_operator(defined(drop_hello), AgentConfig(prompt="Hello. You are a desk."))


def test_a_class_without_the_decorator_is_judged_alike() -> None:
    class Bare:
        id = "prompt.bare"

    with pytest.raises(AssertionError, match="class attribute 'why' is missing"):
        check_operator(Bare)  # type: ignore[arg-type]


def complaint(find: Any, **changes: Any) -> str:
    with pytest.raises(AssertionError) as raised:
        check_operator(defined(find, **changes), AgentConfig(prompt="Hello. You are a desk."))
    return str(raised.value)


def test_a_wrong_example_is_named_with_what_was_found() -> None:
    wrong = Example(EXAMPLE.config, AgentConfig(prompt="Hello."))
    assert "example 1: the first mutant is" in complaint(drop_hello, examples=[wrong])
    assert "example 1: there is no mutant" in complaint(
        drop_hello, examples=[Example(AgentConfig(prompt="x"), AgentConfig(prompt=""))]
    )
    assert "it has no example" in complaint(drop_hello, examples=[])


def test_a_reason_of_two_lines_is_refused() -> None:
    assert "one line how this happens" in complaint(drop_hello, why="a\nb")


def at_random(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Somewhere."""
    for candidate in drop_hello(config, options):
        yield candidate.model_copy(update={"anchor": str(random.random())})


def test_chance_is_found() -> None:
    said = complaint(at_random)
    assert "global random generator" in said and "other mutants the second time" in said


def spoiling(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Changes what it was given."""
    config.orchestration["spoilt"] = True
    yield from drop_hello(config, options)


def test_a_changed_config_is_found() -> None:
    assert "it changed the config that it was given" in complaint(spoiling)


def with_edit(**fields: Any) -> Any:
    def find(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        if config.prompt:
            said = {"description": "say it", "anchor": "it", **fields}
            edit = said.pop("edit", None) or prompt_edit(config.prompt, 0, 0, "X")
            yield Candidate(edits=(edit,), **said)

    return find


@pytest.mark.parametrize(
    ("find", "said"),
    [
        (with_edit(edit=Edit(pointer="/prompt", before="no", after="x", span=(0, 2))), "does not fit"),
        (with_edit(edit=Edit(pointer="/prompt", before="", after="x", span=(3, 1))), "no range"),
        (with_edit(edit=Edit(pointer="/prompt", before="", after="", span=(0, 0))), "leaves the config"),
        (with_edit(description="two\nlines"), "description must be one line"),
        (with_edit(anchor=" "), "the anchor must name the place"),
    ],
)
def test_a_careless_candidate_is_found(find: Any, said: str) -> None:
    assert said in complaint(find)


def test_mutants_of_nothing_and_repetitions_are_found() -> None:
    def twice(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        """Whatever there is."""
        for said in ("one", "two"):
            yield Candidate(edits=(prompt_edit(config.prompt, 0, 0, "X"),), description=said, anchor=said)

    said = complaint(twice)
    assert "an empty config has mutants" in said
    assert "candidates 'one' and 'two' are the same edits" in said


def broken_schema(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Parameters of a type that there is not."""
    for index, tool in enumerate(config.tools):
        edit = Edit(
            pointer=f"/tools/{index}/parameters/type", before=tool.parameters.get("type"), after="thing"
        )
        yield Candidate(edits=(edit,), description=f"break {tool.name}", anchor=tool.name)


def test_a_schema_that_is_none_any_more_is_found() -> None:
    said = complaint(broken_schema, id="tool.broken_schema", reach=Reach.CALLED)
    assert "the parameters of issue_refund are no JSON Schema any more" in said
    assert "its subject is '', no tool that a scenario could call" in said


def test_the_class_of_an_operator_is_the_beginning_of_its_id() -> None:
    sound = defined(drop_hello)
    sound.id = "tool.drop_hello"
    with pytest.raises(AssertionError, match=r"expected prompt\.name, after its class"):
        check_operator(sound)
    with pytest.raises(ValueError, match="colour"):
        defined(drop_hello, id="colour.drop_hello")


def test_intent_and_reach_default_to_a_degradation_that_is_sent() -> None:
    sound = defined(drop_hello)
    assert (sound.intent, sound.reach, sound.version) == (Intent.DEGRADE, Reach.SENT, 1)


def test_the_module_exports_what_it_documents() -> None:
    assert set(testing.__all__) == {"SAMPLES", "Example", "check_operator"}
