"""What reports say of failed runs, of chance, of rules without cover, and what to do next; at 80 columns."""

from typing import Any

from agentmut.campaign.running.stored import Kept
from agentmut.insight.coverage.nouns import Coverage, CoverageItem, Dimension, LeftOut
from agentmut.insight.coverage.project_coverage import TrialsRead
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.mutant import Intent, OperatorClass, Status
from agentmut.nouns.mutant_row import BehaviourChange, MutantRow
from agentmut.nouns.relation import Expectation, Family
from agentmut.report.paint import Page
from agentmut.report.terminal.coverage_page import render_coverage
from agentmut.report.terminal.relations_page import _listed
from agentmut.report.terminal.survivor_gap import gap_in_words, may_be_chance
from agentmut.store.documents.relation_report import Finding, RelationRow
from agentmut.store.rows import StoredTrial


def stored(number: int, scenario: str, ending: Ending, reason: str = "") -> StoredTrial:
    execution = Execution(ending=ending, reason=reason)
    return StoredTrial(f"k{number}", "", scenario, number, execution, float(number), id=number)


def coverage(**fields: Any) -> Coverage:
    return Coverage(**{"overall": 0.5, "dimensions": (), "covered": (), "uncovered": (), **fields})


def item(dimension: Dimension, name: str, text: str = "") -> CoverageItem:
    return CoverageItem(dimension=dimension, name=name, text=text)


def survivor(name: str, p: float) -> MutantRow:
    fields: dict[str, Any] = {
        "id": name,
        "operator": "prompt.drop_instruction",
        "class": OperatorClass.PROMPT,
        "intent": Intent.DEGRADE,
        "status": Status.SURVIVED,
        "target": {"path": "prompt"},
        "before": "x",
        "after": "",
        "description": "",
        "gap": "assertion",
        "behaviour": BehaviourChange(changed=p <= 0.05, p=p, scenario="alpha", feature="it is longer"),
    }
    return MutantRow.model_validate(fields)


def test_runs_that_failed_are_counted_and_the_first_in_time_is_told() -> None:
    kept: Kept = {
        "a": (stored(4, "a", Ending.RAISED, "later"), stored(5, "a", Ending.ANSWERED)),
        "b": (stored(2, "b", Ending.RAISED, "no key"), stored(1, "b", Ending.INFRASTRUCTURE, "429")),
    }
    read = TrialsRead()
    for trials in kept.values():
        for trial in trials:
            read.add(trial)
    assert (read.runs, len(read.failed), read.first_failure) == (3, 2, "raised: no key")


def test_coverage_of_failed_runs_says_so_before_its_figures() -> None:
    shown = render_coverage(coverage(traces=60, failed=60, failure="raised: OpenAIError: no key"))
    assert "All of them ended without an answer. The first: raised: OpenAIError: no key" in shown
    some = render_coverage(coverage(traces=60, failed=2, failure="timeout"))
    assert "2 of them ended without an answer. The first: timeout" in some
    assert "ended without" not in render_coverage(coverage(traces=60))


def test_coverage_says_what_covers_a_rule_by_ablation_and_what_to_do_next() -> None:
    lost = item(Dimension.ABLATION, "prompts/system.md:9", "Be kind.")
    shown = " ".join(render_coverage(coverage(traces=9, uncovered=(lost,))).split())
    assert "covered by ablation where a mutant that drops or negates it was killed" in shown
    assert "Next: `agentmut suggest`" in shown
    assert "Next:" not in render_coverage(coverage(traces=9))


def test_coverage_stays_within_80_columns_and_keeps_names_whole() -> None:
    rules = tuple(item(Dimension.RULE, f"prompts/{'x' * n}.md:12", "word " * 40) for n in (5, 40, 50))
    out = tuple(LeftOut(what=f"lookup_order.parameter_{i}", why="a text without length") for i in range(5))
    lines = render_coverage(coverage(uncovered=rules, left_out=out)).splitlines()
    assert max(map(len, lines)) <= 80
    assert all(any(str(rule) in line for line in lines) for rule in rules)
    start = next(i for i, line in enumerate(lines) if "a text without length:" in line)
    assert lines[start + 1].startswith("    lookup_order.parameter_")


def test_a_change_that_one_of_many_survivors_shows_by_chance_is_told_as_that() -> None:
    one = survivor("m", 0.0496)
    rows = [one, *(survivor(f"o{i}", 0.5) for i in range(11))]
    doubt = may_be_chance(one, rows)
    assert doubt == (
        "That may be chance: of 12 survivors compared, 1 is said to have changed, and about 0.6 would be if none had "
        "(one in twenty)."
    )
    shown = " ".join(gap_in_words(one, doubt))
    assert "seems to have changed" in shown and "p = 0.050 over" in shown and doubt in shown


def test_a_change_that_holds_among_all_survivors_is_told_flatly() -> None:
    one = survivor("m", 0.0004)
    rows = [one, *(survivor(f"o{i}", 0.5) for i in range(11))]
    assert may_be_chance(one, rows) == "" == may_be_chance(survivor("m", 0.05), [])
    assert "has changed" in gap_in_words(one)[0] and "p < 0.001" in gap_in_words(one)[1]


def test_one_reason_of_one_relation_is_listed_once_whatever_stands_between() -> None:
    rows = [
        RelationRow(
            relation="oracle.refusal", family=Family.ORACLE, expectation=Expectation.PREDICATE,
            scenario=name, finding=Finding.NOT_APPLICABLE, reason=reason,
        )
        for name, reason in (("a", "no refusal"), ("b", "another"), ("c", "no refusal"))
    ]  # fmt: skip
    page = Page(color=False)
    _listed(page, "Not applicable", rows)
    assert page.text().splitlines()[-2:] == [
        "  oracle.refusal, 2 scenarios: no refusal",
        "  oracle.refusal, b: another",
    ]
