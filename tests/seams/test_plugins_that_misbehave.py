"""Relations and trace formats of another package that misbehave: the right exit code, and the plugin is named."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("warm")]

WARM = Path(__file__).parents[1] / "testdata" / "warm_cli.py"
PROJECT = """
version: 1
agent: {adapter: python, run: "third_agent:run", config: {prompt: Be brief.}}
suite: {scenarios: scenarios.yaml}
relations: {use: [perturbation.odd]}
execution: {evaluator_timeout: SECONDS}
"""
RELATION = """
import ctypes, os, pathlib, re, sys, time
from agentmut.nouns import *

class Plugin:
    id, version, family, expectation = "perturbation.odd", 1, Family.PERTURBATION, Expectation.INVARIANT
    why = "It happens."
    def __init__(self, argument=None): INIT
    def lack(self, scenario, config): LACK
    def follow_up(self, source): FOLLOW_UP
    def holds(self, pair): HOLDS
    def examples(self): return ()
"""
FORMAT = """
import os, pathlib, re, sys, time

class Raises(Exception):
    def __str__(self): raise ZeroDivisionError

class Plugin:
    name = "odd"
    def __init__(self): INIT
    def recognises(self, head): RECOGNISES
    def read(self, files): READ
"""
GOOD = {
    "INIT": "pass",
    "LACK": "return ''",
    "FOLLOW_UP": "return FollowUp(runs=(FollowUpRun(turns=('HI',)),), description='shouted')",
    "HOLDS": "return Check(evaluator=self.id, passed=True, reason='ok')",
    "RECOGNISES": "return True",
    "READ": "return iter(())",
}


def install(folder: Path, group: str, name: str, source: str, bodies: dict[str, str]) -> None:
    for place, body in {**GOOD, **bodies}.items():
        source = source.replace(place, body)
    (folder / "third_odd.py").write_text(source)
    metadata = folder / "third_odd-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: third-odd\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[agentmut.{group}]\n{name} = third_odd:Plugin\n")


def begun(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); from agentmut.cli import main; main()"
    command = [sys.executable, "-IS", str(WARM), "-c", code, *arguments, "--json"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True)


def relations(folder: Path, bodies: dict[str, str], seconds: float = 60) -> "subprocess.Popen[str]":
    install(folder, "relations", "perturbation.odd", RELATION, bodies)
    (folder / "agentmut.yaml").write_text(PROJECT.replace("SECONDS", str(seconds)))
    (folder / "scenarios.yaml").write_text("- {name: one, input: hi, evaluators: [{contains: hm}]}\n")
    (folder / "third_agent.py").write_text("async def run(config, input):\n    return 'hm'\n")
    return begun(folder, "relations", "--yes")


def error_of(process: "subprocess.Popen[str]", code: int) -> str:
    out, err = process.communicate()
    assert process.returncode == code, err
    assert "bug in agentmut" not in err
    assert "Traceback" not in err
    error: str = json.loads(out)["error"]
    return error


WHERE = "relation perturbation.odd on scenario one, run 20: "


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise BaseException('boom')", "holds raised BaseException: boom. Correct the relation"),
        ("raise KeyboardInterrupt", "holds raised KeyboardInterrupt:. Correct the relation"),
        ("raise GeneratorExit", "holds raised GeneratorExit:. Correct the relation"),
        ("sys.exit(0)", "holds called sys.exit(0). Correct the relation"),
        ("os._exit(0)", "holds raised AgentExitError: os._exit(0) was called. Correct the relation"),
        ("os.killpg(0, 9)", "holds raised AgentExitError: os.killpg(0, 9) was called. Correct the relation"),
        (
            "sys.setrecursionlimit(60)",
            "holds raised AgentExitError: the recursion limit was lowered to 60. Correct the relation",
        ),
        ("return self.holds(pair)", "holds raised RecursionError: maximum recursion depth exceeded"),
        ("return 3", "holds returned 3 (int); expected a Check"),
    ],
)
def test_what_a_relation_raises_or_returns_is_its_own_error(tmp_path: Path, body: str, message: str) -> None:
    assert error_of(relations(tmp_path, {"HOLDS": body}), 4).startswith(WHERE + message)


@pytest.mark.parametrize("body", ["time.sleep(600)", "any(False for _ in iter(int, 1))"])
def test_a_relation_has_the_deadline_of_evaluators(tmp_path: Path, body: str) -> None:
    error = error_of(relations(tmp_path, {"FOLLOW_UP": body}, 0.3), 4)
    assert error.startswith(f"{WHERE}follow_up took more than 0.3 s; it was at {tmp_path}/third_odd.py:")
    assert "or raise execution.evaluator_timeout" in error


@pytest.mark.parametrize(
    ("method", "what", "crash"),
    [
        ("HOLDS", f"{WHERE}holds", "ctypes.string_at(0)"),
        ("LACK", "relation perturbation.odd on scenario one: lack", "ctypes.string_at(0)"),
        ("INIT", "relation 'perturbation.odd': Plugin()", "ctypes.string_at(0)"),
        ("INIT", "relation 'perturbation.odd': Plugin()", "os._exit(0)"),
    ],
)
def test_a_relation_that_ends_the_process_is_named(
    tmp_path: Path, crash: str, method: str, what: str
) -> None:
    error = error_of(relations(tmp_path, {method: crash}), 4)
    assert f"At that time it was in {what}. Correct that code, or uninstall the package" in error


def test_a_relation_that_keeps_pythons_lock_is_named(tmp_path: Path) -> None:
    error = error_of(relations(tmp_path, {"HOLDS": "re.match('^(a+)+$', 'a' * 41 + '!')"}, 0.3), 4)
    assert f"At that time it was in {WHERE}holds." in error


def test_ctrl_c_does_not_wait_for_a_relation(tmp_path: Path) -> None:
    process = relations(tmp_path, {"HOLDS": "pathlib.Path('here').touch(); time.sleep(600)"}, 600)
    while not (tmp_path / "here").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    error = error_of(process, 130)
    assert "so it was killed" not in error  # it was, after ten seconds


@pytest.mark.parametrize("crash", ["os._exit(0)", "sys.exit(0)", "raise KeyboardInterrupt"])
def test_a_plugin_that_ends_the_process_as_it_is_imported_is_named(tmp_path: Path, crash: str) -> None:
    install(tmp_path, "trace_formats", "odd", f"import os, sys\n{crash}\n{FORMAT}", {})
    (tmp_path / "runs.odd").write_text("ODD\n")
    error = error_of(begun(tmp_path, "import", "runs.odd"), 4 if "_exit" in crash else 2)
    assert "trace format 'odd' (third-odd)" in error


@pytest.mark.parametrize(
    ("bodies", "message"),
    [
        ({"INIT": "return 3"}, "Plugin() raised TypeError: __init__() should return None"),
        ({"INIT": "sys.exit(0)"}, "Plugin() raised SystemExit: 0"),
        ({"RECOGNISES": "raise KeyError('x')"}, "recognises() raised KeyError: 'x' (third_odd.py:"),
        ({"RECOGNISES": "raise KeyboardInterrupt"}, "recognises() raised KeyboardInterrupt"),
        ({"RECOGNISES": "raise Raises"}, "recognises() raised Raises: <Raises>"),
        ({"RECOGNISES": "return 3"}, "recognises() returned 3; expected bool"),
        ({"READ": "raise Raises"}, "read() raised Raises: <Raises>"),
        ({"READ": "return 3"}, "read() returned 3; expected Iterable"),
        ({"READ": "yield 3"}, "read() gave a int; expected ForeignTrial or BrokenRecord"),
    ],
)
def test_what_a_trace_format_does_wrong_is_an_error_with_its_name(
    tmp_path: Path, bodies: dict[str, str], message: str
) -> None:
    install(tmp_path, "trace_formats", "odd", FORMAT, bodies)
    (tmp_path / "runs.odd").write_text("ODD\n")
    assert f"trace format 'odd': {message}" in error_of(begun(tmp_path, "import", "runs.odd"), 2)


def importing(folder: Path, bodies: dict[str, str], seconds: float) -> "subprocess.Popen[str]":
    install(folder, "trace_formats", "odd", FORMAT, bodies)
    (folder / "agentmut.yaml").write_text(
        f"version: 1\nagent: {{adapter: python, run: 'a:b', config: {{prompt: hi}}}}\n"
        f"suite: {{scenarios: s.yaml}}\nexecution: {{evaluator_timeout: {seconds}}}\n"
    )
    (folder / "s.yaml").write_text("- {name: one, input: hi, evaluators: [{contains: hm}]}\n")
    (folder / "runs.odd").write_text("ODD\n")
    return begun(folder, "import", "runs.odd")


@pytest.mark.parametrize(
    ("bodies", "method"),
    [
        ({"RECOGNISES": "time.sleep(600)"}, "recognises"),
        ({"READ": "time.sleep(600)"}, "read"),
        ({"READ": "any(False for _ in iter(int, 1)); yield 3"}, "read"),
    ],
)
def test_a_trace_format_has_the_deadline_of_evaluators(
    tmp_path: Path, bodies: dict[str, str], method: str
) -> None:
    error = error_of(importing(tmp_path, bodies, 0.3), 2)
    said = f"trace format 'odd': {method}() took more than 0.3 s; it was at {tmp_path}/third_odd.py:"
    assert error.startswith(said)
    assert "or raise execution.evaluator_timeout" in error


def test_a_trace_format_that_keeps_pythons_lock_is_named(tmp_path: Path) -> None:
    bodies = {"READ": "yield re.match('^(a+)+$', 'a' * 41 + '!')"}
    error = error_of(importing(tmp_path, bodies, 0.3), 4)
    assert "At that time it was in trace format 'odd': read()." in error


def test_ctrl_c_does_not_wait_for_a_trace_format(tmp_path: Path) -> None:
    process = importing(tmp_path, {"READ": "pathlib.Path('here').touch(); time.sleep(600)"}, 600)
    while not (tmp_path / "here").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    error = error_of(process, 130)
    assert "so it was killed" not in error
