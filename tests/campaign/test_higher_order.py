"""Two mutants at once: what can be combined, where it counts, and whether both parts arrived."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut._base.errors import UsageError
from agentmut.campaign.decision.baseline import ScenarioBaseline
from agentmut.campaign.decision.pairs import PartsSeen
from agentmut.campaign.decision.reach import reached
from agentmut.campaign.selection.selection import Selection
from agentmut.mutation.higher_order import named_pairs, pair, parse_pair, sampled_pairs
from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.footprints import Footprint, RequestShape
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach, Status
from agentmut.nouns.mutant_row import MutantRow
from agentmut.nouns.result import Result
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import ToolSpec
from agentmut.trial.suite_config import SuiteConfig
from agentmut.trial.witness.witness import Detector, Route, Witness
from agentmut.usecases.campaigns import measure

PROMPT = "Greet the user. Never lie. Be brief."
TOOLS = tuple(ToolSpec(name=name, description=f"To {name}.") for name in ("look", "pay", "ask"))
NOTES = (Document(name="a", text="One. Two."), Document(name="b", text="Three. Four."))
BASE = AgentConfig(prompt=PROMPT, tools=TOOLS, context=NOTES)
PLAIN = BASE.model_dump(mode="json")


def mutant(
    id: str,
    *edits: Edit,
    operator: str = "prompt.drop_instruction",
    intent: Intent = Intent.DEGRADE,
    reach: Reach = Reach.SENT,
    subject: str = "",
) -> Mutant:
    return Mutant(
        id=id,
        operator=operator,
        version=1,
        operator_class=OperatorClass(operator.partition(".")[0]),
        intent=intent,
        reach=reach,
        subject=subject,
        description=f"does {id}",
        edits=edits,
    )


def cut(text: str, after: str = "", pointer: str = "/prompt", within: str = PROMPT) -> Edit:
    start = within.index(text)
    return Edit(pointer=pointer, before=text, after=after, span=(start, start + len(text)))


def whole(pointer: str, before: Any, after: Any) -> Edit:
    return Edit(pointer=pointer, before=before, after=after)


NO_GREETING = mutant("11111111", cut("Greet the user. "))
NO_TRUTH = mutant("22222222", cut("Never lie. "))
NO_PAY = mutant("33333333", whole("/tools/1", PLAIN["tools"][1], None), operator="tool.remove")
ASK_RENAMED = mutant("44444444", whole("/tools/2/name", "ask", "query"), operator="tool.rename")
DECOY = {"name": "decoy", "description": "To decoy."}
FIRST_DECOY = mutant("55555555", whole("/tools/0", None, DECOY), operator="tool.decoy")
OTHER_DECOY = mutant("66666666", whole("/tools/0", None, {**DECOY, "name": "trap"}), operator="tool.decoy")
NO_LOOK = mutant("77777777", whole("/tools/0", PLAIN["tools"][0], None), operator="tool.remove")


def made(one: Mutant, other: Mutant) -> Mutant:
    both = pair(one, other, BASE)
    assert isinstance(both, Mutant), both
    return both


def test_a_pair_makes_both_changes_names_both_parts_and_has_one_id_in_either_order() -> None:
    both = made(NO_GREETING, NO_TRUTH)
    assert both.apply(BASE).prompt == "Be brief."
    assert both == made(NO_TRUTH, NO_GREETING)
    assert [part.id for part in both.parts] == ["11111111", "22222222"]
    assert (both.operator, both.operator_class) == ("higher_order.pair", OperatorClass.HIGHER_ORDER)
    assert both.description == "[11111111] does 11111111 and [22222222] does 22222222"


def test_a_pair_degrades_if_either_part_does() -> None:
    harmless = mutant("88888888", cut("Greet", "Welcome"), intent=Intent.PRESERVE)
    other = mutant("99999999", cut("brief", "short"), intent=Intent.PRESERVE)
    assert made(harmless, NO_TRUTH).intent is Intent.DEGRADE
    assert made(harmless, other).intent is Intent.PRESERVE
    assert made(harmless, other).operator == "higher_order.harmless_pair"


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        (NO_PAY, ASK_RENAMED, ["look", "query"]),
        (NO_LOOK, NO_PAY, ["ask"]),
        (FIRST_DECOY, NO_LOOK, ["decoy", "pay", "ask"]),
        (FIRST_DECOY, ASK_RENAMED, ["decoy", "look", "pay", "query"]),
        (FIRST_DECOY, OTHER_DECOY, ["trap", "decoy", "look", "pay", "ask"]),
    ],
)
def test_items_that_come_or_go_shift_no_other_change(one: Mutant, other: Mutant, names: list[str]) -> None:
    assert list(made(one, other).apply(BASE).tool_names) == names


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (NO_GREETING, mutant("a", cut("the user. Never", "X"))),
        (NO_GREETING, mutant("a", whole("/prompt", PROMPT, "Hm."))),
        (mutant("a", Edit(pointer="/prompt", before="", after="Hm. ", span=(0, 0))), NO_GREETING),
        (NO_PAY, mutant("a", whole("/tools/1/description", "To pay.", "To play."), operator="tool.blank")),
        (NO_PAY, mutant("a", whole("/tools", PLAIN["tools"], PLAIN["tools"][::-1]), operator="tool.reorder")),
        (NO_PAY, NO_PAY),
    ],
)
def test_parts_that_change_the_same_place_are_no_pair(one: Mutant, other: Mutant) -> None:
    reason = pair(one, other, BASE)
    assert isinstance(reason, str)
    assert reason.startswith("their changes of /")
    assert pair(other, one, BASE) == reason


def test_pairs_of_pairs_and_of_controls_are_no_mutants_of_second_order() -> None:
    both = made(NO_GREETING, NO_TRUTH)
    assert pair(both, NO_PAY, BASE) == "only mutants of first order can be combined"
    assert pair(mutant("none"), NO_PAY, BASE) == "only mutants of first order can be combined"


def test_a_pair_that_undoes_itself_is_dropped() -> None:
    base = AgentConfig(prompt="aab")
    one = mutant("a", Edit(pointer="/prompt", before="a", after="", span=(0, 1)))
    other = mutant("b", Edit(pointer="/prompt", before="b", after="ab", span=(2, 3)))
    assert pair(one, other, base) == "together they leave the config as it is"


def expressible(mutant: Mutant) -> str:
    return ""


def test_a_pair_is_named_by_beginnings_of_ids_and_misspelt_ones_are_refused() -> None:
    known = (NO_GREETING, NO_TRUTH, NO_PAY)
    found = named_pairs([parse_pair("1111+3333")], known, BASE, expressible)
    assert [m.id for m in found.mutants] == [made(NO_GREETING, NO_PAY).id]
    with pytest.raises(UsageError, match="abcd: there is no such mutant"):
        named_pairs([("abcd", "1111")], known, BASE, expressible)
    with pytest.raises(UsageError, match=r"joined by a plus sign"):
        parse_pair("1111,3333")


def test_what_cannot_be_combined_or_run_is_dropped_with_the_reason() -> None:
    found = named_pairs([("3333", "3333"), ("1111", "3333")], (NO_GREETING, NO_PAY), BASE, lambda m: "not so")
    assert found.mutants == ()
    assert [(d.operator, d.reason) for d in found.dropped] == [
        ("higher_order.pair", "their changes of /tools/1 overlap"),
        ("higher_order.pair", "not so"),
    ]


MANY = (NO_GREETING, NO_TRUTH, NO_PAY, ASK_RENAMED, FIRST_DECOY, NO_LOOK)


def test_a_sample_is_the_same_in_any_order_and_prefers_different_operators_and_places() -> None:
    samples = {
        tuple(m.id for m in sampled_pairs(3, order, BASE, expressible).mutants)
        for order in permutations(MANY)
    }
    assert len(samples) == 1
    for both in sampled_pairs(3, MANY, BASE, expressible).mutants:
        one, other = both.parts
        assert one.operator != other.operator
        assert one.edits[0].path[:2] != other.edits[0].path[:2]


def test_a_sample_has_degrading_mutants_only_and_ends_with_the_pairs_there_are() -> None:
    harmless = mutant("88888888", cut("brief", "short"), intent=Intent.PRESERVE)
    found = sampled_pairs(50, (NO_GREETING, NO_TRUTH, NO_PAY, harmless), BASE, expressible)
    assert len(found.mutants) == 3
    assert all("88888888" not in (part.id for part in both.parts) for both in found.mutants)


def test_a_mutant_more_leaves_the_pairs_of_the_others_in_the_ranking_of_the_sample() -> None:
    few = [both.id for both in sampled_pairs(99, MANY[:-1], BASE, expressible).mutants]
    more = [both.id for both in sampled_pairs(99, MANY, BASE, expressible).mutants]
    assert [id for id in more if id in few] == few


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_pair_of_disjoint_cuts_removes_exactly_both(data: st.DataObject) -> None:
    text = data.draw(st.text("abc ", min_size=4, max_size=30))
    points = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=4, max_size=4, unique=True)))
    base = AgentConfig(prompt=text)

    def edit(start: int, end: int) -> Edit:
        return Edit(pointer="/prompt", before=text[start:end], after="", span=(start, end))

    a, b, c, d = points
    both = pair(mutant("one", edit(a, b)), mutant("two", edit(c, d)), base)
    assert isinstance(both, Mutant)
    assert both.apply(base).prompt == text[:a] + text[b:c] + text[d:]


def sent(config: AgentConfig) -> Footprint:
    return Footprint(requests=(RequestShape(text=config.system_text(), tools=config.tools),))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (NO_GREETING, NO_TRUTH),
        (NO_GREETING, NO_PAY),
        (NO_PAY, ASK_RENAMED),
        (FIRST_DECOY, ASK_RENAMED),
        (FIRST_DECOY, OTHER_DECOY),
        (
            mutant("a", whole("/context/0", PLAIN["context"][0], None), operator="context.drop"),
            mutant("b", cut("Four", "Five", "/context/1/text", "Three. Four."), operator="context.corrupt"),
        ),
    ],
)
def test_the_witness_tells_which_parts_arrived(one: Mutant, other: Mutant) -> None:
    both = made(one, other)
    detector = Detector(both, BASE)
    complete = detector.witness(sent(both.apply(BASE)))
    assert complete is not None
    assert complete.parts == {one.id, other.id}
    assert detector.witness(sent(BASE)) is None


def test_half_a_pair_is_witnessed_as_half() -> None:
    both = made(NO_GREETING, NO_PAY)
    half = Detector(both, BASE).witness(sent(NO_PAY.apply(BASE)))
    assert half is not None
    assert half.parts == {NO_PAY.id}


def seen(*parts: str) -> Witness:
    return Witness(route=Route.SENT, seen=len(parts), edits=2, parts=frozenset(parts))


def test_a_part_counts_as_missing_after_three_trials_in_which_it_was_due() -> None:
    parts = PartsSeen({"here": frozenset("ab"), "there": frozenset("b")}, patience=3)
    assert [parts.record("there", seen("b"), counts=True) for _ in range(5)] == [True] * 5
    assert parts.missing == ""
    assert [parts.record("here", seen("b"), counts=True) for _ in range(2)] == [False, False]
    assert parts.record("here", None, counts=False) is False
    assert parts.missing == ""
    assert parts.record("here", seen("b"), counts=True) is False
    assert parts.missing == "a"


def test_a_part_that_was_seen_once_is_not_missing() -> None:
    parts = PartsSeen({"here": frozenset("ab")}, patience=3)
    assert parts.record("here", seen("a", "b"), counts=True) is True
    assert [parts.record("here", seen("b"), counts=True) for _ in range(9)] == [False] * 9
    assert parts.missing == ""


def test_a_trial_that_went_past_a_part_says_nothing_about_it() -> None:
    parts = PartsSeen({"here": frozenset("ab")}, patience=3)
    for _ in range(5):
        assert parts.record("here", seen("a"), counts=True, past=frozenset("b")) is False
    assert (parts.missing, parts.unseen, parts.passed["b"], parts.waited["b"]) == ("", "b", 5, 0)
    assert parts.record("here", seen("a", "b"), counts=True) is True
    assert parts.unseen == ""


JUDGES = (EvaluatorSpec(name="contains", argument="hi"),)


def baseline(*tools: str) -> ScenarioBaseline:
    found = ScenarioBaseline(1)
    found.trials = 1
    found.tools.update(tools)
    found.footprints["one"] = sent(BASE)
    return found


def test_a_pair_is_reached_where_either_part_is_unless_one_shows_nowhere() -> None:
    scenarios = {name: Scenario(name=name, turns=("hi",), evaluators=JUDGES) for name in ("talks", "pays")}
    baselines = {"talks": baseline(), "pays": baseline("pay")}
    paid = NO_PAY.model_copy(update={"reach": Reach.CALLED, "subject": "pay"})
    asked = NO_LOOK.model_copy(update={"reach": Reach.CALLED, "subject": "look"})

    def where(both: Mutant) -> Any:
        return reached(
            both, Detector(both, BASE), SuiteConfig(BASE, scenarios.values()), baselines, scenarios
        )

    some = where(made(NO_TRUTH, paid))
    assert set(some.scenarios) == {"talks", "pays"}
    assert some.parts == {"talks": {NO_TRUTH.id}, "pays": {NO_TRUTH.id, NO_PAY.id}}
    none = where(made(NO_TRUTH, asked))
    assert (none.scenarios, none.otherwise) == ({}, Status.NO_COVERAGE)
    assert "makes the agent call look" in none.reason
    assert NO_LOOK.id in none.reason


def row(result: Result, operator: str) -> list[MutantRow]:
    return [row for row in result.mutants if row.operator == operator]


@pytest.mark.whole
def test_pairs_are_scored_as_a_class_of_their_own_and_not_in_the_overall_score(
    projects: Any, told: Callable[[Result], dict[str, tuple[Any, ...]]]
) -> None:
    alone = measure(projects.write(("alpha", "beta"), idle=1))
    second = {"second_order": {"sample": 2}}
    result = measure(projects.write(("alpha", "beta"), idle=1, mutation=second))
    pairs = row(result, "higher_order.pair")
    assert len(pairs) == 2
    assert [p.status for p in pairs] == [Status.KILLED] * 2  # two of three rules: alpha or beta is among them
    first = {m.id for m in alone.mutants}
    assert all(len(p.parts) == 2 and set(p.parts) <= first for p in pairs)
    assert result.score == alone.score
    assert result.robustness == alone.robustness
    assert [run.killed.mutants for run in result.ci] == [run.killed.mutants for run in alone.ci]
    assert (result.classes["higher_order"].killed, result.operators["higher_order.pair"].killed) == (2, 2)
    assert result.classes["prompt"] == alone.classes["prompt"]


@pytest.mark.whole
def test_a_pair_of_the_command_line_is_added_and_may_be_run_alone(projects: Any) -> None:
    project = projects.write(("alpha", "beta"), idle=1)
    one, other, _ = measure(project).mutants
    asked = Selection(mutants=(one.id,), pairs=((one.id, other.id[:6]),))
    found = measure(project, selection=asked).mutants
    assert [m.operator for m in found] == ["prompt.drop_instruction", "higher_order.pair"]
    again = projects.write(
        ("alpha", "beta"), idle=1, mutation={"second_order": {"pairs": [[one.id, other.id]]}}
    )
    (alone,) = measure(again, selection=Selection(mutants=(found[1].id,))).mutants
    assert (alone.id, alone.trials) == (found[1].id, found[1].trials)


PARTIAL = """
async def run(config, input):
    from agentmut.recording.current import current_trial
    prompt = config.prompt
    return input.split()[-1] if "say alpha" in prompt and int(current_trial().id, 16) % 20 else "no idea"
"""


@pytest.mark.whole
def test_a_pair_one_part_of_which_never_arrives_is_not_applied(projects: Any) -> None:
    (projects.folder / "doc.md").write_text("Nobody reads this. " * 40)
    project = projects.write(
        ("alpha",),
        agent=PARTIAL,
        idle=0,
        agent_section={"config": {"prompt": "prompt.md", "context": ["doc.md"]}},
        mutation={
            "operators": ["prompt.drop_instruction", "context.truncate"],
            "per_operator": 1,
            "second_order": {"sample": 1},
        },
    )
    result = measure(project)
    (found,) = row(result, "higher_order.pair")
    (unread,) = row(result, "context.truncate")
    assert (found.status, found.trials) == (Status.NOT_APPLIED, 0)
    assert f"part {unread.id}" in found.reason
