"""A crash of agentmut's own code is exit code 4 and one JSON document: 1 would be evidence against the agent."""

import asyncio
import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import ExitCode
from agentmut.cli import entry

PROJECT = """
version: 1
agent: {adapter: python, run: "crash_agent:run", config: {prompt: "Be kind."}}
suite: {scenarios: s.yaml}
"""


def write(folder: Path) -> list[str]:
    (folder / "crash_agent.py").write_text("def run(config, input):\n    return 'yes'\n")
    (folder / "s.yaml").write_text("- {name: s, input: hi, evaluators: [{contains: 'yes'}]}\n")
    (folder / "agentmut.yaml").write_text(PROJECT)
    return ["test", "--yes", "--trials", "5", "--json", "--project", str(folder)]


def ended(arguments: list[str] | None) -> int:
    with pytest.raises(SystemExit) as left:
        entry.main(arguments)
    assert isinstance(left.value.code, int)
    return left.value.code


def told(capsys: pytest.CaptureFixture[str]) -> tuple[Any, str]:
    found = capsys.readouterr()
    return json.loads(found.out), found.err


@pytest.mark.parametrize("crash", [ZeroDivisionError("planted"), MemoryError(), asyncio.CancelledError()])
@pytest.mark.parametrize(
    "place", ["agentmut.campaign.trials.Suite.judged", "agentmut.campaign.running.loop.Loop._take_in"]
)
def test_a_planted_crash_is_never_exit_code_1(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    crash: BaseException,
    place: str,
) -> None:
    def fall(*given: Any, **named: Any) -> None:
        raise crash

    monkeypatch.setattr(place, fall)
    assert ended(write(tmp_path)) == ExitCode.BROKEN
    document, _ = told(capsys)
    assert document["exit_code"] == ExitCode.BROKEN


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.EMFILE, "Too many open files"), (errno.EIO, "Input/output error"), (errno.EAGAIN, "unavailable")],
)
def test_what_the_system_refuses_is_no_bug(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    number: int,
    said: str,
) -> None:
    def refused(*given: Any, **named: Any) -> None:
        raise OSError(number, os.strerror(number), "/a/file")

    monkeypatch.setattr("agentmut.campaign.running.loop.Loop._take_in", refused)
    assert ended(write(tmp_path)) == ExitCode.BROKEN
    document, printed = told(capsys)
    assert said in document["error"] and "(/a/file)" in document["error"]
    assert "bug in agentmut" not in printed and "Traceback" not in printed


def test_a_crash_says_that_it_is_a_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("agentmut.campaign.running.loop.Loop._take_in", lambda *given: 1 / 0)
    assert ended(write(tmp_path)) == ExitCode.BROKEN
    document, said = told(capsys)
    assert "bug in agentmut" in document["error"] and "ZeroDivisionError" in said


@pytest.mark.parametrize("crash", [BlockingIOError(11, "no more processes"), ZeroDivisionError("planted")])
def test_a_supervisor_that_fails_is_never_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], crash: Exception
) -> None:
    def fall() -> int:
        raise crash

    monkeypatch.delenv("AGENTMUT_UNSUPERVISED", raising=False)
    monkeypatch.setattr(os, "fork", fall)
    monkeypatch.setattr("sys.argv", ["agentmut", *write(tmp_path)])
    monkeypatch.setattr(entry, "keep_streams", lambda: None)
    assert ended(None) == ExitCode.BROKEN
    document, _ = told(capsys)
    assert document["exit_code"] == ExitCode.BROKEN


def test_ctrl_c_before_the_first_trial_writes_a_json_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*given: Any, **named: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("agentmut.campaign.preparation.session.environment", interrupted)
    assert ended(write(tmp_path)) == ExitCode.INTERRUPTED
    document, said = told(capsys)
    assert document["exit_code"] == ExitCode.INTERRUPTED and "Ctrl-C" in said


@pytest.mark.parametrize("verb", ["import", "watch"])
def test_ctrl_c_during_an_import_says_that_the_same_command_brings_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    def interrupted(*given: Any, **named: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("agentmut.usecases.importing.found_files", interrupted)
    assert ended([verb, "runs.json", "--project", str(tmp_path)]) == ExitCode.INTERRUPTED
    said = "agentmut: ended by Ctrl-C. Imported runs are kept: the same command imports the rest.\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    "place",
    ["typer.core.TyperGroup.make_context", "typer.main.get_command"],
)
def test_ctrl_c_while_the_words_are_parsed_writes_a_json_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    def interrupted(*given: Any, **named: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(place, interrupted)
    assert ended(write(tmp_path)) == ExitCode.INTERRUPTED
    document, said = told(capsys)
    assert document["exit_code"] == ExitCode.INTERRUPTED and "Ctrl-C" in said


def test_ctrl_c_while_the_command_line_is_loaded_writes_a_json_document(tmp_path: Path) -> None:
    (tmp_path / "interrupted.py").write_text(
        "import sys, types\n"
        "class Interrupting(types.ModuleType):\n"
        "    def __getattr__(self, name):\n        raise KeyboardInterrupt\n"
        "sys.modules['agentmut.cli'] = Interrupting('agentmut.cli')\n"
        "from agentmut.__main__ import run\nrun()\n"
    )
    command = [sys.executable, "interrupted.py", "run", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == ExitCode.INTERRUPTED
    assert json.loads(done.stdout)["exit_code"] == ExitCode.INTERRUPTED
    assert done.stderr == "agentmut: ended by Ctrl-C. Nothing was run.\n"


def test_a_traceback_of_ours_reaches_the_terminal_without_escapes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def falls(*given: Any, **named: Any) -> None:
        raise LookupError("\x1b]0;mine\x07 \x9b31m \u202e")

    monkeypatch.setattr("agentmut.campaign.preparation.session.environment", falls)
    assert ended(write(tmp_path)) == ExitCode.BROKEN
    _, said = told(capsys)
    assert "LookupError: ?]0;mine?" in said
    assert not {"\x1b", "\x9b", "\u202e", "\x07"} & set(said)


@pytest.mark.process
def test_a_module_that_raises_keyboard_interrupt_is_no_ctrl_c(tmp_path: Path) -> None:
    arguments = write(tmp_path)
    for module in tmp_path.glob("*.py"):
        module.write_text("raise KeyboardInterrupt\n")
    command = [sys.executable, "-m", "agentmut", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == ExitCode.USAGE, done.stderr
    assert "raised KeyboardInterrupt" in json.loads(done.stdout)["error"]


def test_code_of_the_user_that_calls_sys_exit_never_chooses_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1 would be evidence against the agent."""

    def leaves(*given: Any, **named: Any) -> None:
        raise SystemExit(1)

    monkeypatch.setattr("agentmut.campaign.preparation.session.environment", leaves)
    assert ended(write(tmp_path)) == ExitCode.BROKEN
    document, _ = told(capsys)
    assert document["exit_code"] == ExitCode.BROKEN
    assert "sys.exit(1)" in document["error"] and "test_planted_crashes.py" in document["error"]
