"""Properties of all mutants together: located edits, stable ids, no repetitions, speed."""

from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut._base.errors import MutationError
from agentmut.language.prompt.document import parse
from agentmut.mutation.generation import Generation, generate
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.mutant import Candidate, Edit, Intent, OperatorClass, Reach, apply_edits
from agentmut.nouns.tools import ToolSpec
from agentmut.seams.protocols.operator import Example, Operator, OperatorOptions
from tests.processor import processor_time

OPERATORS: tuple[Operator, ...] = tuple(
    entry.load()() for entry in sorted(entry_points(group="agentmut.operators"), key=lambda entry: entry.name)
)
OPTIONS = OperatorOptions(swap_models=("claude-sonnet-4-6",), downgrade_models=("gpt-5.2-mini",))
CORPUS = Path(__file__).parents[1] / "testdata" / "prompts"
PROMPTS = sorted(path for path in CORPUS.iterdir() if path.suffix != ".yaml")


def generated(config: AgentConfig, *operators: str) -> Generation:
    chosen = [operator for operator in OPERATORS if not operators or operator.id in operators]
    return generate(config, chosen, OPTIONS)


def ids(config: AgentConfig, *operators: str) -> set[str]:
    return {mutant.id for mutant in generated(config, *operators).mutants}


RULES = [
    "Always verify the customer's identity.", "Never promise a refund.", "Be polite", "Politely decline.",
    "Use {name} and `code` here.", 'Say "Verify it. Now." aloud.', "Ask for the number. Then look it up.",
    "Call issue_refund once.", "Be polite",
]  # fmt: skip
LAYOUTS = [
    "- {}\n",
    "{}\n\n",
    "1. {}\n",
    "  - {}\n",
    "{} ",
    "<rule>{}</rule>\n",
    "## Head\n{}\n",
    "```\n{}\n```\n",
]
rule = st.builds(
    lambda layout, said: layout.replace("{}", said), st.sampled_from(LAYOUTS), st.sampled_from(RULES)
)
prompts = st.lists(rule, max_size=8).map("".join)
tools = st.lists(st.sampled_from(["issue_refund", "look_up", "send", "search"]), unique=True).map(
    lambda names: tuple(ToolSpec(name=name, description=f"Does {name}.") for name in names)
)
documents = st.lists(
    st.sampled_from(["One fact. Two facts. Three.", "Line\nline\n", "Nothing"]), max_size=3
).map(lambda texts: tuple(Document(name=f"d{i}", text=text) for i, text in enumerate(texts)))
configs = st.builds(
    AgentConfig, prompt=prompts, tools=tools, context=documents, model=st.just(ModelConfig(name="m"))
)


@given(configs)
@settings(max_examples=60, deadline=None)
def test_mutants_are_located_different_and_unique(config: AgentConfig) -> None:
    found = generated(config).mutants
    results = [mutant.apply(config) for mutant in found]
    assert len({mutant.id for mutant in found}) == len(found)
    assert len({result.digest for result in results} | {config.digest}) == len(found) + 1
    for mutant, result in zip(found, results, strict=True):
        named = {edit.path[0] for edit in mutant.edits}
        for field in set(AgentConfig.model_fields) - named:
            assert getattr(result, field) == getattr(config, field)


@given(configs)
@settings(max_examples=60, deadline=None)
def test_everything_outside_the_stated_spans_is_untouched(config: AgentConfig) -> None:
    for mutant in generated(config).mutants:
        spans = [edit for edit in mutant.edits if edit.pointer == "/prompt" and edit.span]
        expected, last = "", 0
        for edit in sorted(spans, key=lambda edit: edit.span or (0, 0)):
            start, end = edit.span or (0, 0)
            assert edit.before == config.prompt[start:end] and start >= last
            expected, last = f"{expected}{config.prompt[last:start]}{edit.after}", end
        assert mutant.apply(config).prompt == expected + config.prompt[last:]


@given(configs)
@settings(max_examples=30, deadline=None)
def test_generation_is_deterministic(config: AgentConfig) -> None:
    assert generated(config) == generated(AgentConfig.model_validate_json(config.model_dump_json()))


@given(st.lists(st.sampled_from(RULES[:8]), min_size=1, max_size=6, unique=True), st.data())
@settings(max_examples=40, deadline=None)
def test_a_new_rule_elsewhere_changes_no_id(rules: list[str], data: st.DataObject) -> None:
    def config(listed: list[str]) -> AgentConfig:
        return AgentConfig(prompt="# Rules\n" + "".join(f"- {said}\n" for said in listed))

    place = data.draw(st.integers(0, len(rules)))
    longer = [*rules[:place], "Sign with your name.", *rules[place:]]
    by_place = ("prompt.drop_instruction", "prompt.synonym", "prompt.inject_noise")
    assert ids(config(rules), *by_place) <= ids(config(longer), *by_place)
    at_an_end = config(["Sign with your name.", *rules]), config([*rules, "Sign with your name."])
    assert all(ids(config(rules)) <= ids(other) for other in at_an_end)


def test_a_new_last_rule_and_renumbering_change_no_id() -> None:
    before = AgentConfig(prompt="1. Be polite.\n2. Never guess.")
    after = AgentConfig(prompt="Welcome.\n\n1. Sign it.\n2. Be polite.\n3. Never guess.\n4. Ask.\n")
    assert ids(before) <= ids(after)


def test_a_new_tool_in_front_or_another_wording_elsewhere_changes_no_id_of_a_tool() -> None:
    find, send = (ToolSpec(name=name, description=f"Can {name}.") for name in ("find", "send"))
    before = AgentConfig(tools=(find, send))
    reworded = send.model_copy(update={"description": "Can send a mail."})
    after = AgentConfig(prompt="New.", tools=(ToolSpec(name="log", description="Log it."), find, reworded))
    kept = ids(before, "tool.remove", "tool.reorder")
    assert len(kept) == 3 and kept <= ids(after, "tool.remove", "tool.reorder")


def test_the_two_orders_of_tools_have_different_ids() -> None:
    config = AgentConfig(tools=tuple(ToolSpec(name=name) for name in "abc"))
    assert len(ids(config, "tool.reorder")) == 2


def test_two_equal_rules_make_one_mutant_and_one_reasoned_drop() -> None:
    config = AgentConfig(prompt="- Be polite.\n- Be polite.\n")
    generation = generated(config, "prompt.drop_instruction")
    assert len(generation.mutants) == 1
    assert "the same config as" in generation.dropped[0].reason


def test_the_first_operator_keeps_a_mutant_that_two_make() -> None:
    both = OperatorOptions(swap_models=("x",), downgrade_models=("x",))
    config = AgentConfig(model=ModelConfig(name="m"))
    generation = generate(config, [o for o in OPERATORS if o.id.startswith("model.")], both)
    naming = [m.operator for m in generation.mutants if m.edits[0].pointer == "/model/name"]
    assert naming == ["model.downgrade"]
    assert generation.dropped[0].operator == "model.swap"
    assert generation.empty[-1] == (
        "model.swap",
        "no mutants of model.swap, because all its candidates were dropped",
    )


def test_an_operator_without_mutants_says_why() -> None:
    reasons = dict(generate(AgentConfig(), OPERATORS, OperatorOptions()).empty)
    assert len(reasons) == len(OPERATORS)
    assert reasons["tool.remove"] == "no mutants of tool.remove, because the config has no tools"
    assert reasons["prompt.synonym"].endswith("because the prompt is empty")
    assert reasons["model.swap"].endswith("(mutation.swap_models)")
    assert reasons["context.permute"].endswith("because the config has no documents")
    one = generated(AgentConfig(prompt="Nothing here to reword."))
    assert dict(one.empty)["prompt.synonym"].endswith("because it found no place in this config")


class Careless:
    """An operator with every fault that generation must survive."""

    id: ClassVar[str] = "prompt.careless"
    version: ClassVar[int] = 1
    operator_class: ClassVar[OperatorClass] = OperatorClass.PROMPT
    intent: ClassVar[Intent] = Intent.DEGRADE
    reach: ClassVar[Reach] = Reach.SENT
    why: ClassVar[str] = "A plugin has a bug."

    def mutants(self, config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        """Edits that do not fit, leave no config, or change nothing."""
        for pointer, before, after in (
            ("/prompt", "something else", "x"),
            ("/nowhere/0", "a", "b"),
            ("/prompt", config.prompt, None),
            ("/prompt", config.prompt, config.prompt),
        ):
            edit = Edit(pointer=pointer, before=before, after=after)
            yield Candidate(edits=(edit,), description=pointer, anchor=pointer)

    def examples(self) -> Iterator[Example]:
        """None."""
        return iter(())


def test_candidates_that_do_not_fit_or_change_nothing_are_dropped_with_a_reason() -> None:
    generation = generate(AgentConfig(prompt="p"), [Careless()], OPTIONS)
    assert generation.mutants == ()
    reasons = [dropped.reason for dropped in generation.dropped]
    assert [" ".join(reason.split()[:5]) for reason in reasons] == [
        "edit of /prompt does not", "edit of /nowhere/0 does not", "edits of prompt leave no",
        "it leaves the config as",
    ]  # fmt: skip


def test_an_edit_that_leaves_no_config_is_a_mutation_error() -> None:
    with pytest.raises(MutationError, match="leave no valid config"):
        apply_edits(AgentConfig(prompt="p"), [Edit(pointer="/prompt", before="p", after=None)])


@pytest.mark.parametrize("path", PROMPTS, ids=lambda path: path.stem)
def test_rewording_a_real_prompt_touches_nothing_protected(path: Path) -> None:
    expected: dict[str, Any] = yaml.safe_load(path.with_suffix(".yaml").read_text("utf-8"))
    config = AgentConfig(
        prompt=path.read_text("utf-8"), tools=tuple(ToolSpec(name=name) for name in expected["tools"])
    )
    document = parse(config.prompt, config.tool_names)
    generation = generated(config, "prompt.synonym", "prompt.inject_noise", "prompt.drop_instruction")
    assert sum(m.operator == "prompt.drop_instruction" for m in generation.mutants) == len(
        document.instructions
    )
    fixed = [config.prompt[start:end] for start, end in document.protected]
    for mutant in generation.mutants:
        if mutant.operator != "prompt.drop_instruction":
            (edit,) = mutant.edits
            assert edit.span and not document.protects(*edit.span)
            after = parse(mutant.apply(config).prompt, config.tool_names)
            assert [after.text[start:end] for start, end in after.protected] == fixed


def test_word_operators_are_silent_about_german() -> None:
    german = AgentConfig(prompt=(CORPUS / "reisen_german.md").read_text("utf-8"))
    assert not ids(german, "prompt.synonym")
    assert len(ids(german, "prompt.drop_instruction")) == 5


def _large(sections: int) -> AgentConfig:
    bullets = "".join(
        f"- Always verify item {n} of the concise order, e.g. by its number.\n" for n in range(10)
    )
    prompt = "".join(f"## Part {n}\n\n{bullets.replace('item', f'item {n}')}\n" for n in range(sections))
    tools = tuple(
        ToolSpec(name=f"tool_{n}", description=f"Does the thing number {n}. " * 5) for n in range(50)
    )
    return AgentConfig(prompt=prompt, tools=tools, context=(Document(name="d", text=prompt),))


def test_a_prompt_of_50_kilobytes_with_50_tools_yields_its_mutants_within_seconds() -> None:
    generated(_large(1))  # imports
    config = _large(75)
    assert len(config.prompt) > 50_000
    with processor_time() as used:  # the machine may be busy
        found = generated(config).mutants
        assert len(found) > 5_000
    assert used.seconds < 10  # about 0.9 s; a busy worker with much in memory takes several times that


HOSTILE = [
    "a", "{", "<!-- ", "`' \"", "a_", "... ", "a: 1. ", "</a>", "| x\n", "**", "a@", "((",
    "<a>\n", "{# ", "{% if x %}\n", "User: a\n\n", "## Examples\n- a\n", "</a> </b>\n", "Example:\n",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_reading_takes_time_in_proportion_to_length(piece: str) -> None:
    with processor_time() as used:
        parse(piece * (30_000 // len(piece)))
    assert used.seconds < 2.5  # 0.1 s at most; anything quadratic takes four seconds
