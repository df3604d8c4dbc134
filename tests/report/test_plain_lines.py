"""Lines of reports that a reader without the glossary understands: a subject, a verb, and no code words."""

from agentmut.insight.generate.proposals import Aim, AimKind
from agentmut.nouns.suggestion import Suggestions
from agentmut.report.terminal.gate_page import render_gate
from agentmut.report.terminal.plan_page import render_offers
from agentmut.report.terminal.suggestions_page import render_suggestions
from agentmut.stats.intervals.proportion import wilson
from agentmut.stats.three_valued import Judgement, Verdict
from agentmut.stats.verdicts.suite_verdict import suite_verdict
from agentmut.usecases.gate_decision import Decision, GateReport, Requirement, Standing
from agentmut.usecases.plan_figures import Offer
from agentmut.usecases.suggestions import Proposed
from tests.report.test_assertions_of_other_tools import FOUND


def test_a_rule_that_no_run_is_about_is_a_run_to_make() -> None:
    placed = Aim(AimKind.RULE, "rule prompts/system.md:10", rule="Never guess.")
    assert placed.in_words == 'a run to which the rule at prompts/system.md:10 applies: "Never guess."'
    dropped = Aim(AimKind.RULE, "mutant ab12", rule="Never guess.")
    assert dropped.in_words == 'mutant ab12: a run to which the rule applies: "Never guess."'


def test_each_requirement_of_a_gate_is_a_sentence() -> None:
    requirements = (
        Requirement(name="suite verdict", standing=Standing.MISSING, reason="no current result is stored"),
        Requirement(name="score", standing=Standing.FAILED, reason="0.20 is below 0.5"),
    )
    report = GateReport(
        agentmut_version="0",
        project="p",
        decision=Decision.BLOCK,
        requirements=requirements,
        reasons=("score",),
        inconclusive="manual",
    )
    page = render_gate(report)
    assert "Suite verdict has no evidence: no current result is stored" in page
    assert "Score is not met: 0.20 is below 0.5" in page


def test_a_run_says_why_its_estimate_differs_from_that_of_plan() -> None:
    offer = Offer(usd=None, trials=2000, mutants=27, of=27, delta=0.5, half_width=None)
    said = " ".join(render_offers([offer]).split())
    assert said.endswith("`agentmut plan` rests on stored runs and assumptions, so its figures may differ.")
    assert not render_offers([]).strip()


def test_a_plan_that_draws_mutants_says_where_they_are_named() -> None:
    some = Offer(usd=2, trials=300, mutants=4, of=14, delta=0.75, half_width=0.3)
    named = "`sample.mutants` in `agentmut report --json` names them"
    assert named in " ".join(render_offers([some]).split())
    every = Offer(usd=9, trials=900, mutants=14, of=14, delta=0.75, half_width=None)
    assert named not in " ".join(render_offers([every]).split())


def test_one_scenario_is_no_plural() -> None:
    passes = Judgement(Verdict.PASS, "it passes", 1.0, wilson(20, 20), 20, None, "wilson")
    assert suite_verdict({"a": passes}, 0.05).reason == "the only scenario passes"
    assert suite_verdict({"a": passes, "b": passes}, 0.05).reason == "all 2 scenarios pass"


def test_a_suite_of_another_tool_gets_no_command_that_it_refuses() -> None:
    kept = Suggestions(run_id="r", assertions=(FOUND,))
    page = render_suggestions(Proposed(kept, own_scenarios=False))
    assert "--apply" not in page and "--scenarios" not in page
    assert "`agentmut show ID` shows the assertion for a mutant as code." in page
