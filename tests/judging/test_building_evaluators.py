"""Evaluators by name: from a scenario file's entry to a check, and what happens when one is broken."""

import sys
from pathlib import Path

import pytest

from agentmut._base.errors import ExitCode, PluginError, RunError, UsageError
from agentmut.judging.building import build, build_all, judge
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import AgentTrace
from agentmut.seams import plugins

SCENARIO = Scenario(name="late", turns=("hi",), evaluators=(EvaluatorSpec(name="contains", argument="x"),))
TRACE = AgentTrace(outputs=("a refund",))


@pytest.fixture
def user_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    name = f"checks_{abs(hash(request.node.name))}"
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / f"{name}.py").write_text(
        "from agentmut.nouns.trace import Check\n"
        "def on_trace(trace): return 'refund' in trace.text\n"
        "def on_both(scenario, trace): return scenario.name == 'late', 'because'\n"
        "def with_default(trace, strict=True): return strict is True\n"
        "def own_check(trace): return Check(evaluator='mine', passed=False, reason='own')\n"
        "def asserting(trace):\n    assert 'guarantee' in trace.text, 'no guarantee'\n    return True\n"
        "def forgetful(trace): pass\n"
        "def broken(trace): return {}['missing']\n"
        "def greedy(a, b, c): return True\n"
        "async def waiting(trace): return True\n"
        "def huge(trace): return 'x' * 10**6\n"
        "def raising(trace): raise ValueError('y' * 10**6)\n"
        "number = 3\n"
    )
    return name


def judged(spec: EvaluatorSpec) -> tuple[bool, str]:
    (check,) = judge([build(spec)], SCENARIO, TRACE)
    assert check.evaluator == spec.name
    return check.passed, check.reason


def test_every_built_in_evaluator_is_registered_and_has_the_signature_of_its_seam() -> None:
    assert set(plugins.load_all("evaluators")) == {
        "exact_match", "contains", "not_contains", "regex", "starts_with", "ends_with",
        "json_schema", "expect", "tool_called",
        "tool_not_called", "tool_called_with", "tool_order", "max_steps", "max_cost", "max_seconds",
        "python", "expression", "tool_count", "states", "decides", "suite", "suite_checks",
        "contract", "judge", "javascript", "langsmith",
        "command_passes", "file_matches", "files_changed", "files_unchanged",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("function", "beginning"),
    [("huge", "returned 'xxx"), ("raising", "raised ValueError: yyy")],
)
def test_megabytes_of_an_evaluator_do_not_fill_the_message(
    user_module: str, function: str, beginning: str
) -> None:
    with pytest.raises(RunError) as raised:
        judged(EvaluatorSpec(name="python", argument=f"{user_module}:{function}"))
    assert beginning in str(raised.value)
    assert len(str(raised.value)) < 3_000


def test_judging_gives_one_check_per_evaluator_in_order() -> None:
    specs = [
        EvaluatorSpec(name="contains", argument="refund"),
        EvaluatorSpec(name="tool_called", argument="t"),
    ]
    checks = judge(build_all(specs), SCENARIO, TRACE)
    assert [(check.evaluator, check.passed) for check in checks] == [
        ("contains", True),
        ("tool_called", False),
    ]


def test_an_unknown_evaluator_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(PluginError) as error:
        build(EvaluatorSpec(name="contians", argument="x"))
    assert str(error.value) == "unknown evaluator 'contians'. Did you mean 'contains'?"
    assert error.value.exit_code is ExitCode.USAGE


def test_a_bad_argument_is_an_error_that_names_the_evaluator() -> None:
    with pytest.raises(UsageError, match=r"evaluator 'regex': expects a regular expression, got '\('"):
        build(EvaluatorSpec(name="regex", argument="("))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("on_trace", (True, "{module}:on_trace holds")),
        ("on_both", (True, "because")),
        ("with_default", (True, "{module}:with_default holds")),
        ("own_check", (False, "own")),
        ("asserting", (False, "{module}:asserting: no guarantee")),
    ],
)
def test_a_python_evaluator_may_answer_in_several_forms(
    user_module: str, function: str, expected: tuple[bool, str]
) -> None:
    spec = EvaluatorSpec(name="python", argument=f"{user_module}:{function}")
    assert judged(spec) == (expected[0], expected[1].format(module=user_module))


def test_a_raising_evaluator_is_a_run_error_with_its_place(user_module: str) -> None:
    with pytest.raises(RunError) as error:
        judged(EvaluatorSpec(name="python", argument=f"{user_module}:broken"))
    for piece in ("evaluator 'python'", "scenario 'late'", "KeyError: 'missing'", f"{user_module}.py:10"):
        assert piece in str(error.value)
    assert error.value.exit_code is ExitCode.BROKEN


def test_an_evaluator_without_an_answer_neither_passes_nor_fails(user_module: str) -> None:
    with pytest.raises(RunError, match="returned None; expected true or false"):
        judged(EvaluatorSpec(name="python", argument=f"{user_module}:forgetful"))


@pytest.mark.parametrize(
    ("function", "piece"),
    [
        ("greedy", "(scenario, trace) or (trace)"),
        ("waiting", "is async"),
        ("number", "is not callable"),
        ("on_trce", "Did you mean 'on_trace'?"),
    ],
)
def test_a_function_that_cannot_judge_is_refused_when_it_is_built(
    user_module: str, function: str, piece: str
) -> None:
    with pytest.raises(UsageError) as error:
        build(EvaluatorSpec(name="python", argument=f"{user_module}:{function}"))
    assert piece in str(error.value)
