"""Contracts: every clause at every step, every violation located."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut._base.errors import EvaluatorError, RunError, UsageError
from agentmut.assessment.evaluator_findings import CheckCounts
from agentmut.judging.building import build, with_files
from agentmut.judging.contracts.evaluator import Contract
from agentmut.judging.contracts.steps import step_values
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import Action, AgentTrace, Check, Step, Usage
from agentmut.seams.plugins import Catalogue, Group
from tests.processor import processor_time

ROOT = Path(__file__).parent.parent / "testdata" / "refund_contract"
SPEC: dict[str, Any] = yaml.safe_load((ROOT / "refunds.yaml").read_text())


def scenario(turn: str = "I want a refund for order 7.") -> Scenario:
    return Scenario(name="one", turns=(turn,), evaluators=(EvaluatorSpec(name="contract", argument=SPEC),))


def call(tool: str, error: str | None = None, **arguments: Any) -> Step:
    return Step(
        action=Action.CALL_TOOL, tool=tool, arguments=arguments, error=error, output=None if error else "ok"
    )


def think(tokens: int = 10, usd: float | None = 0.01) -> Step:
    return Step(action=Action.REASON, model="m", usage=Usage(input_tokens=tokens), usd=usd)


def said(text: str, *steps: Step) -> AgentTrace:
    return AgentTrace(steps=(*steps, Step(action=Action.RESPOND, output=text)), outputs=(text,))


def violations(check: Check) -> list[tuple[Any, Any]]:
    found: Any = (check.details or {})["violations"]
    return [(one["clause"], one.get("step")) for one in found]


GOOD = said("We paid 40 back.", think(), call("lookup_order"), think(), call("issue_refund", amount=40))


def test_a_run_that_keeps_the_contract_passes() -> None:
    check = Contract(SPEC).evaluate(scenario(), GOOD)
    assert check.passed and violations(check) == []
    assert check.reason == "contract refunds holds over 5 steps"


def test_a_broken_invariant_is_located_by_step_and_tool() -> None:
    trace = said("We paid 40 back.", think(), call("issue_refund", amount=40), call("lookup_order"))
    check = Contract(SPEC).evaluate(scenario(), trace)
    assert not check.passed and violations(check) == [("look-up-first", 2)]
    assert check.details is not None and check.details["violations"] == [{
        "clause": "look-up-first", "kind": "invariant", "severity": "hard", "step": 2, "until": 2, "turn": 0,
        "tool": "issue_refund",
        "said": "`step['tool'] != 'issue_refund' or 'lookup_order' in tools[:-1]` does not hold",
    }]  # fmt: skip
    assert "look-up-first is violated in step 2 (issue_refund, turn 0)" in check.reason


def test_an_invariant_with_when_speaks_of_those_steps_only() -> None:
    trace = said(
        "40", call("lookup_order"), call("issue_refund", amount=140), call("issue_refund", amount=150)
    )
    check = Contract(SPEC).evaluate(scenario(), trace)
    found: Any = (check.details or {})["violations"]
    assert [(one["clause"], one["step"], one["until"]) for one in found] == [("within-the-order", 2, 3)]


@pytest.mark.parametrize(("failures", "recovered"), [(1, True), (2, True), (3, False)])
def test_a_soft_clause_has_its_window_to_recover(failures: int, recovered: bool) -> None:
    failing = [call("lookup_order", error="timed out")] * failures
    trace = said("We paid 40 back.", *failing, call("lookup_order"), call("issue_refund", amount=40))
    check = Contract(SPEC).evaluate(scenario(), trace)
    assert check.passed is recovered and violations(check) == [("no-failing-tool", 1)]
    if recovered:
        assert f"held again at step {failures + 1}" in check.reason
    else:
        assert "did not recover in time" in check.reason


def test_a_soft_clause_that_never_holds_again_is_not_recovered() -> None:
    trace = AgentTrace(steps=(call("lookup_order", error="down"),), outputs=("40",))
    assert not Contract(SPEC).evaluate(scenario(), trace).passed


def test_a_postcondition_is_checked_on_the_finished_run() -> None:
    check = Contract(SPEC).evaluate(scenario(), said("Done.", call("lookup_order")))
    assert not check.passed and violations(check) == [("says-the-amount", None)]
    assert "says-the-amount is violated at the end" in check.reason


@pytest.mark.parametrize(
    ("limits", "clause", "step"),
    [
        ({"max_steps": 2}, "max_steps", 3),
        ({"max_tokens": 15}, "max_tokens", 3),
        ({"max_usd": 0.015}, "max_usd", 3),
        ({"tools_forbidden": ["issue_refund"]}, "tools_forbidden", 4),
        ({"tools_allowed": ["issue_refund"]}, "tools_allowed", 2),
        ({"tools_allowed": []}, "tools_allowed", 2),
    ],
)
def test_a_limit_is_located_at_the_step_that_went_past_it(
    limits: dict[str, Any], clause: str, step: int
) -> None:
    check = Contract({"name": "c", "governance": limits}).evaluate(scenario(), GOOD)
    assert not check.passed and violations(check)[0] == (clause, step)


def test_time_is_counted_to_the_end_of_the_run() -> None:
    contract = Contract({"name": "c", "governance": {"max_seconds": 2}})
    slow = GOOD.model_copy(update={"seconds": 3.0})
    assert contract.evaluate(scenario(), GOOD).passed
    assert violations(contract.evaluate(scenario(), slow)) == [("max_seconds", 5)]


def test_a_limit_of_money_with_an_unknown_price_is_an_error_of_the_contract() -> None:
    contract = Contract({"name": "c", "governance": {"max_usd": 1}})
    with pytest.raises(EvaluatorError, match="of model m"):
        contract.evaluate(scenario(), said("x", think(usd=None)))
    assert "no model call was seen" in contract.evaluate(scenario(), said("x")).reason


def test_where_a_precondition_does_not_hold_the_contract_says_that_it_does_not_apply() -> None:
    contract = Contract(SPEC)
    check = contract.evaluate(scenario("Hello."), said("Hi.", call("delete_order")))
    assert check.passed and check.details is not None and check.details["applies"] is False
    assert check.reason == "contract refunds does not apply: precondition asks-for-a-refund does not hold"
    assert "does not apply, so it checks nothing" in contract.note(scenario("Hello."))
    assert contract.note(scenario()) == ""


def test_invariants_see_only_what_was_there_by_then() -> None:
    spec: dict[str, Any] = {"name": "c", "invariants": [
        {"id": "no-answer-yet", "check": "step['action'] == 'respond' or output == None"},
        {"id": "counts", "check": "steps == step['number'] and len(tools) == len(calls) and tokens >= step['tokens']"},
    ]}  # fmt: skip
    check = Contract(spec).evaluate(scenario(), GOOD)
    assert check.passed, check.reason


@pytest.mark.parametrize(
    ("kind", "key", "unfit"),
    [
        ("invariants", "check", "step['arguments']['nope'] > 0"),
        ("invariants", "when", "step['arguments']['nope'] > 0"),
        ("postconditions", "check", "calls[0]['arguments']['nope'] > 0"),
    ],
)
def test_an_expression_that_the_run_does_not_allow_is_an_error_or_a_violation_if_asked(
    kind: str, key: str, unfit: str
) -> None:
    clause: dict[str, Any] = {"id": "amount", "check": "steps > 0", key: unfit}
    with pytest.raises(RunError, match=r"clause amount.*cannot be evaluated.*otherwise: fail"):
        Contract({"name": "c", kind: [clause]}).evaluate(scenario(), GOOD)
    lenient = Contract({"name": "c", kind: [{**clause, "otherwise": "fail"}]})
    check = lenient.evaluate(scenario(), GOOD)
    assert not check.passed and "cannot be evaluated" in check.reason


def test_single_clauses_can_be_asked_for() -> None:
    only: dict[str, Any] = {"file": SPEC, "clauses": ["says-the-amount"]}
    broken = said("40", call("delete_order"))
    assert not Contract(SPEC).evaluate(scenario(), broken).passed
    assert Contract(only).evaluate(scenario(), broken).passed
    with pytest.raises(ValueError, match=r"no clause 'says-the-amont'.*Did you mean 'says-the-amount'"):
        Contract({"file": SPEC, "clauses": ["says-the-amont"]})


def test_a_path_is_read_relative_to_the_project_and_its_contents_identify_the_evaluator() -> None:
    spec = with_files(
        EvaluatorSpec(name="contract", argument="refunds.yaml"), Catalogue.from_group(Group.EVALUATORS), ROOT
    )
    assert spec.argument == SPEC
    assert build(spec).evaluate(scenario(), GOOD).evaluator == "contract"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: c\ninvariants:\n  - {id: a, check: 'stepp == 1'}\n", r"c.yaml:3: .*unknown name 'stepp'.*'step'"),
        ("name: c\ninvariant: []\n", r"c.yaml:2: .*invariant"),
        ("name: c\n", "it says nothing yet"),
        ("name: c\npreconditions:\n  - {id: a, check: 'output == 1'}\ngovernance: {max_steps: 2}\n", "name 'output'"),
        ("name: c\ninvariants:\n  - {id: a, check: 'steps > 0', recovery: 2}\n", "recovery is for soft clauses"),
        ("name: c\ninvariants:\n  - &a {id: a, check: 'steps > 0'}\n  - *a\n", "ids are unique"),
    ],
)  # fmt: skip
def test_a_wrong_contract_is_refused_with_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(UsageError, match=said):
        with_files(
            EvaluatorSpec(name="contract", argument="c.yaml"),
            Catalogue.from_group(Group.EVALUATORS),
            tmp_path,
        )


def test_tools_of_the_limits_are_those_that_the_agent_must_have() -> None:
    assert Contract(SPEC).tools == ("delete_order",)


def test_an_agent_without_steps_can_still_take_too_long() -> None:
    contract = Contract({"name": "quick", "governance": {"max_seconds": 2}})
    check = contract.evaluate(scenario(), AgentTrace(outputs=("late",), seconds=3.0))
    assert (check.passed, violations(check)) == (False, [("max_seconds", None)])


def test_no_number_of_violations_of_one_clause_hides_another() -> None:
    limits: dict[str, Any] = {"tools_allowed": []}
    soft: Any = {"id": "fine", "severity": "soft", "check": "steps % 2 == 0 or steps > 180"}
    late: Any = {"id": "late", "check": "'50' in text"}
    contract = Contract({"name": "c", "invariants": [soft], "governance": limits, "postconditions": [late]})
    trace = said("We paid 40 back.", *(call("issue_refund") for _ in range(200)))
    found = violations(contract.evaluate(scenario(), trace))
    assert found[:2] == [("fine", 1), ("fine", 3)] and ("tools_allowed", 1) in found
    assert found[-1] == ("late", None) and len(found) == 52


def test_a_soft_clause_that_recovers_often_and_once_not_is_counted_as_violated() -> None:
    soft: Any = {"id": "fine", "severity": "soft", "check": "steps % 2 == 0 and steps < 190"}
    check = Contract({"name": "c", "invariants": [soft]}).evaluate(
        scenario(), said("We paid 40 back.", *(call("issue_refund") for _ in range(200)))
    )
    counted = CheckCounts()
    counted.take_in([check])
    assert not check.passed and (counted.violated[0, "fine"], counted.recovered[0, "fine"]) == (1, 0)


def test_the_states_of_a_long_run_are_not_all_held_at_once() -> None:
    trace = said("We paid 40 back.", *(call("issue_refund") for _ in range(400)))
    states = step_values(scenario(), trace)
    assert next(states)["tools"] == ["issue_refund"] and iter(states) is states


def test_no_clause_may_be_called_like_a_limit() -> None:
    written: dict[str, Any] = {"name": "n", "postconditions": [{"id": "max_steps", "check": "steps > 0"}]}
    with pytest.raises(ValueError, match="the id 'max_steps' is the name of a limit of governance"):
        Contract({**written, "governance": {"max_steps": 3}})


def test_a_run_without_steps_is_told_to_have_checked_no_invariant() -> None:
    contract = Contract({"name": "n", "invariants": [{"id": "calm", "check": "steps < 3"}]})
    check = contract.evaluate(scenario(), AgentTrace(outputs=("Hello.",)))
    assert check.passed
    assert check.reason.endswith("the run has no steps, so no invariant was checked (calm)")


def test_invariants_of_a_long_run_are_checked_within_seconds() -> None:
    clauses: list[Any] = [
        {"id": f"c{n}", "check": f"'pay{n}' not in tools and len(calls) <= steps and step['tool'] != 'x'"}
        for n in range(3)
    ]
    trace = said("done", *(call("look_up", order=str(n)) for n in range(2000)))
    with processor_time() as used:
        assert Contract({"name": "n", "invariants": clauses}).evaluate(scenario(), trace).passed
    assert used.seconds < 9
