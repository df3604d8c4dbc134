"""Doubles and hooks: what is called in place of a tool."""

import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from agentmut._base.errors import UsageError
from agentmut.nouns.scenario import EvaluatorSpec, Scenario, ToolDouble
from agentmut.trial.calls.doubles import ToolDoubleError, resolve, resolve_doubles, resolve_hooks

SPECS = (EvaluatorSpec(name="contains", argument="x"),)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "own_doubles.py").write_text(
        "def refund(order_id): return {'refunded': order_id}\n"
        "def begin(scenario): return scenario.name\n"
        "limit = 3\n"
    )
    return tmp_path


def test_a_fixed_result_is_a_fresh_copy_each_time() -> None:
    double = resolve(ToolDouble(returns={"items": [1]}))
    first = double(order_id="A")
    first["items"].append(2)
    assert double("A", more=True) == {"items": [1]}


def test_a_result_may_be_null() -> None:
    assert resolve(ToolDouble(returns=None))() is None


def test_a_failing_double_raises_its_message() -> None:
    with pytest.raises(ToolDoubleError, match=r"^service down$"):
        resolve(ToolDouble(raises="service down"))(order_id="A")


def test_a_python_double_gets_the_tools_arguments(root: Path) -> None:
    scenario = Scenario(
        name="s",
        turns=("x",),
        evaluators=SPECS,
        tools={"issue_refund": ToolDouble(python="own_doubles:refund"), "ping": ToolDouble(returns=1)},
    )
    doubles = resolve_doubles(scenario, root)
    assert doubles["issue_refund"](order_id="A") == {"refunded": "A"}
    assert doubles["ping"]() == 1


def test_hooks_are_imported_and_called_with_the_scenario(root: Path) -> None:
    scenario = Scenario(name="late", turns=("x",), evaluators=SPECS, setup="own_doubles:begin")
    hooks = resolve_hooks(scenario, root)
    assert hooks.setup is not None
    assert hooks.setup(scenario) == "late"
    assert hooks.teardown is None


@pytest.mark.parametrize(
    ("reference", "piece"),
    [("own_doubles:refnd", "Did you mean 'refund'"), ("own_doubles:limit", "is not callable")],
)
def test_a_double_that_cannot_be_called_is_an_error(root: Path, reference: str, piece: str) -> None:
    with pytest.raises(UsageError, match=piece):
        resolve(ToolDouble(python=reference), root)


def test_a_double_is_exactly_one_of_three_things() -> None:
    with pytest.raises(ValidationError, match="exactly one of returns, raises, python"):
        ToolDouble(returns=1, raises="x")
