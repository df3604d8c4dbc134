"""`agentmut.testing.check_operator` passes sound operators and names what is wrong with others."""

import importlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentmut import testing
from agentmut.conformance.operators.other_processes import TriedConfig, order_faults
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.mutant import Candidate, Edit, Intent, OperatorClass, Reach, prompt_edit
from agentmut.nouns.tools import ToolSpec
from agentmut.seams.make_operator import operator
from agentmut.seams.plugins import load_all
from agentmut.seams.protocols.operator import Example, OperatorOptions
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
    check_operator(built_in, other_processes=False)


@pytest.mark.process
def test_the_order_of_no_built_in_operator_comes_from_a_set() -> None:
    def tried(built_in: Any) -> list[TriedConfig]:
        examples = [TriedConfig(example.config, example.options) for example in built_in().examples()]
        return [*(TriedConfig(config, OperatorOptions()) for config in testing.SAMPLES), *examples]

    assert list(order_faults([(one, tried(one)) for one in load_all("operators").values()], ["1"])) == []


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
    assert "the tool 'issue_refund': parameters/type: 'thing' is no type of JSON Schema" in said
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


def rewriting(pointer: str, change: Any) -> Any:
    """An operator that sets what stands at a pointer to `change` of it, as a whole."""

    def find(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        value: Any = config.model_dump(mode="json")
        for part in pointer[1:].split("/"):
            value = value[int(part)] if part.isdigit() and int(part) < len(value) else _inside(value, part)
        if value:
            edit = Edit(pointer=pointer, before=value, after=change(value))
            yield Candidate(edits=(edit,), description="change it", anchor="it", subject="issue_refund")

    return find


def _inside(value: Any, part: str) -> Any:
    return value.get(part, {}) if isinstance(value, dict) else {}


@pytest.mark.parametrize("span", [False, True])
def test_a_whole_prompt_that_is_replaced_must_be_a_smaller_edit(span: bool) -> None:
    def find(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        text = config.prompt
        if "Never" in text:
            after = text.replace("Never", "Sometimes")
            edit = prompt_edit(text, 0, len(text), after)
            edit = edit if span else Edit(pointer="/prompt", before=text, after=after)
            yield Candidate(edits=(edit,), description="weaken", anchor="Never")

    said = complaint(find)
    assert "its edit of /prompt must be minimal, but replaces" in said
    assert "agentmut.nouns.mutant.prompt_edit" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda p: {**p, "required": ["order_nr"]}, "'order_nr' is required, but is no property"),
        (lambda p: {**p, "type": "array"}, "a tool takes an object"),
    ],
)
def test_parameters_that_the_loader_would_refuse_are_found(change: Any, said: str) -> None:
    find = rewriting("/tools/0/parameters", change)
    assert said in complaint(find, id="tool.break", reach=Reach.CALLED)


@pytest.mark.parametrize("name", ["look_up_order", ""])
def test_tool_names_that_are_taken_or_empty_are_found(name: str) -> None:
    said = complaint(rewriting("/tools/0/name", lambda _: name), id="tool.rename_badly")
    assert "more than one tool is named 'look_up_order'" in said or "a tool has no name" in said


def test_a_schema_of_an_older_draft_is_a_schema() -> None:
    old = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}},
    }

    def find(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        for index, tool in enumerate(config.tools):
            edit = Edit(pointer=f"/tools/{index}/description", before=tool.description, after="?")
            yield Candidate(edits=(edit,), description=f"hide {tool.name}", anchor=tool.name)

    config = AgentConfig(tools=(ToolSpec(name="count", description="Count.", parameters=old),))
    hidden = AgentConfig(tools=(ToolSpec(name="count", description="?", parameters=old),))
    check_operator(defined(find, id="tool.hide", examples=[Example(config, hidden)]))


def test_an_edit_of_another_part_than_the_class_says_is_found() -> None:
    said = complaint(rewriting("/model/name", lambda name: name + "-mini"))
    assert "it edits /model/name, but operators of the class prompt edit /prompt" in said


def test_candidates_that_read_alike_are_found() -> None:
    def find(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        for place in (0, 1)[: len(config.prompt)]:
            edit = prompt_edit(config.prompt, place, place, "X")
            yield Candidate(edits=(edit,), description="put an X", anchor="X")

    assert "have one description and one anchor" in complaint(find)


def test_numpys_chance_is_found() -> None:
    import numpy as np

    def find(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        np.random.random()
        yield from drop_hello(config, options)

    assert "numpy's global random generator" in complaint(find)


def test_what_an_operator_raised_or_yielded_is_told_with_the_config_and_the_rest() -> None:
    def raises(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        if config.tools:
            raise KeyError("no such tool")
        yield from drop_hello(config, options)

    def yields(config: AgentConfig, options: OperatorOptions) -> Iterator[Any]:
        yield "drop Hello"

    said = complaint(raises, why="a\nb")
    assert "config 1 ('You are a helpful desk.'): operator 'prompt.drop_hello' raised KeyError" in said
    assert "one line how this happens" in said
    said = complaint(yields)
    assert "example 1: operator 'prompt.drop_hello' yielded a str" in said
    assert "an empty config: operator 'prompt.drop_hello' yielded a str" in said


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"version": "1"}, "its version is '1'"),
        ({"intent": "degrade"}, "its intent is 'degrade'"),
        ({"intent": Intent.CONTROL}, "expected one of Intent.DEGRADE, Intent.PRESERVE"),
        ({"reach": None}, "its reach is None"),
    ],
)
def test_wrong_declarations_are_told_with_everything_else(wrong: dict[str, Any], said: str) -> None:
    found = complaint(spoiling, **wrong)
    assert said in found
    assert "it changed the config that it was given" in found


def test_the_class_of_controls_is_for_agentmut_alone() -> None:
    sound = defined(drop_hello)
    sound.id, sound.operator_class = "control.drop_hello", OperatorClass.CONTROL
    with pytest.raises(AssertionError, match=r"expected one of OperatorClass\.PROMPT"):
        check_operator(sound)


FROM_A_SET = """
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.mutant import Candidate, prompt_edit
from agentmut.seams.make_operator import operator
from agentmut.seams.protocols import Example

@operator("prompt.drop_word", why="It happens.", examples=[Example(AgentConfig(prompt="a"), AgentConfig())])
def drop_word(config, options):
    for word in ORDER(set(config.prompt.split())):
        start = config.prompt.index(word)
        edit = prompt_edit(config.prompt, start, start + len(word), "")
        yield Candidate(edits=(edit,), description=f"drop {word}", anchor=word)
"""


@pytest.mark.process
def test_an_order_that_comes_from_a_set_is_found_in_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, order in (("words_in_any_order", "list"), ("words_in_order", "sorted")):
        (tmp_path / f"{name}.py").write_text(FROM_A_SET.replace("ORDER", order))
    with pytest.raises(AssertionError, match=r"in another process\. The order of a set"):
        check_operator(importlib.import_module("words_in_any_order").drop_word)
    check_operator(importlib.import_module("words_in_order").drop_word)


def test_the_module_exports_what_it_documents() -> None:
    assert {"SAMPLES", "Example", "check_codec", "check_operator"} <= set(testing.__all__)
