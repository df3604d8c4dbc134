"""`check_evaluator`, `check_importer` and `check_report_format`: sound plugins pass, planted faults are found."""

from pathlib import Path
from typing import Any, ClassVar

import pytest

from agentmut import AgentSpec, AgentTrace, Check, EvaluatorSpec, Scenario, SuiteSpec
from agentmut._base.errors import UsageError
from agentmut.seams.plugins import Group, load, names
from agentmut.seams.protocols.evaluator import NamesTools
from agentmut.testing import check_evaluator, check_importer, check_report_format

ARGUMENTS: dict[str, Any] = {
    "exact_match": "yes",
    "contains": "yes",
    "not_contains": "no",
    "regex": "y.s",
    "json_schema": {"type": "object"},
    "tool_called": "refund",
    "tool_not_called": "refund",
    "tool_order": ["look_up", "refund"],
    "max_steps": 3,
    "max_cost": 0.5,
    "max_seconds": 10,
}


class Sound:
    """Passes what names the word."""

    def __init__(self, argument: object) -> None:
        if not isinstance(argument, str):
            raise ValueError(f"expects a word, got {argument!r}")
        self.word = argument

    def evaluate(self, scenario: Scenario, trace: AgentTrace) -> Check:
        return Check(evaluator="sound", passed=self.word in trace.text, reason=f"the word {self.word!r}")


def found(check: Any, plugin: type[Any], *arguments: Any, **options: Any) -> str:
    with pytest.raises(AssertionError) as error:
        check(plugin, *arguments, **options)
    return str(error.value)


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_built_in_evaluators_are_sound(name: str) -> None:
    # they take any object
    refused: list[Any] = [] if name in ("exact_match", "json_schema") else [{"no such": ["thing"]}]
    check_evaluator(load(Group.EVALUATORS, name), ARGUMENTS[name], refused=refused)


def test_a_sound_evaluator_passes() -> None:
    check_evaluator(Sound, "please", refused=[3, None])


def test_an_evaluator_that_takes_a_bad_argument_is_found() -> None:
    assert "it took the argument '3'" in found(check_evaluator, Sound, "x", refused=["3"])


def test_an_evaluator_that_refuses_by_another_error_is_found() -> None:
    class Hasty(Sound):
        def __init__(self, argument: Any) -> None:
            super().__init__(argument + "")

    assert "by TypeError; expected ValueError" in found(check_evaluator, Hasty, "x", refused=[3])


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("raise KeyError('x')", "it raised KeyError"),
        ("return True", "it gave a bool; expected agentmut.Check"),
        ("return Check(evaluator='x', passed=False, reason=' ')", "it failed the trace without a reason"),
        ("trace.__dict__['error'] = 'x'; return Check(evaluator='x', passed=True, reason='')", "changed the trace"),
        ("self.n = getattr(self, 'n', 0) + 1; return Check(evaluator='x', passed=True, reason=str(self.n))",
         "judged the same trace twice and differently"),
    ],
)  # fmt: skip
def test_an_evaluator_that_misjudges_is_found(answer: str, fault: str) -> None:
    space: dict[str, Any] = {"Check": Check}
    exec(f"def evaluate(self, scenario, trace):\n    {answer}", space)
    bad = type("Bad", (Sound,), {"evaluate": space["evaluate"]})
    assert fault in found(check_evaluator, bad, "x")


def test_a_declared_attribute_that_is_missing_is_found() -> None:
    class Forgetful(Sound, NamesTools):
        pass

    assert "its attribute tools is missing" in found(check_evaluator, Forgetful, "x")


class Lines:
    """A case for each line of a file."""

    name: ClassVar[str] = "lines"

    def __init__(self, spec: SuiteSpec) -> None:
        self.spec = spec

    @classmethod
    def create(cls, spec: SuiteSpec) -> "Lines":
        if not isinstance(spec.argument, str):
            raise UsageError(f"suite.lines expects a path, got {spec.argument!r}")
        return cls(spec)

    def scenarios(self) -> tuple[Scenario, ...]:
        judge = (EvaluatorSpec(name="expect", argument={"contains": "ok"}),)
        lines = (Path(self.spec.root) / str(self.spec.argument)).read_text().split()
        return tuple(Scenario(name=line, turns=(line,), evaluators=judge) for line in lines)

    def adapter(self, agent: AgentSpec, config: Any) -> None:
        return None


def test_a_sound_importer_passes(tmp_path: Path) -> None:
    (tmp_path / "cases").write_text("one two")
    check_importer(Lines, SuiteSpec(kind="lines", argument="cases", root=str(tmp_path)), refused=[wrong()])


def wrong() -> SuiteSpec:
    return SuiteSpec(kind="lines", argument=3)


def test_importers_that_break_their_promises_are_found(tmp_path: Path) -> None:
    (tmp_path / "cases").write_text("one one")
    suite = SuiteSpec(kind="lines", argument="cases", root=str(tmp_path))
    assert "2 scenarios have the name 'one'" in found(check_importer, Lines, suite)
    assert "FileNotFoundError" in found(check_importer, Lines, suite.model_copy(update={"argument": "gone"}))

    class Lenient(Lines):
        @classmethod
        def create(cls, spec: SuiteSpec) -> "Lenient":
            return cls(spec)

    assert "expected UsageError" in found(check_importer, Lenient, suite, refused=[wrong()])
    assert "method scenarios() is missing" in found(check_importer, type("No", (), {"name": "no"}), suite)


@pytest.mark.parametrize("name", names(Group.REPORT_FORMATS))
def test_built_in_report_formats_are_sound(name: str) -> None:
    check_report_format(load(Group.REPORT_FORMATS, name))


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("return result.mutants[0].id + '\\n'", "a result without mutants it raised IndexError"),
        ("return 3", "it gave a int; expected text"),
        ("return result.run_id", "does not end with a line break"),
        (
            "return ''.join(row.description for row in result.mutants) + '\\n'",
            "characters that steer a terminal",
        ),
        ("self.n = getattr(self, 'n', 0) + 1; return f'{self.n}\\n'", "twice and differently"),
    ],
)
def test_a_report_format_that_breaks_its_promises_is_found(body: str, fault: str) -> None:
    space: dict[str, Any] = {}
    exec(f"def render(self, result, view):\n    {body}", space)
    bad = type("Bad", (), {"name": "bad", "render": space["render"]})
    assert fault in found(check_report_format, bad)
