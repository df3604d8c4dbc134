"""Modules that harm Python while they are imported: the message names the module, and advises no isolation."""

import faulthandler
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentmut.cli.supervising import supervised
from tests.cli.late_agents import PROJECT
from tests.warm_command import ROOT, run_agentmut

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("warm")]

AGENT = "\nasync def run(config, input):\n    return 'hello' if config.prompt else 'hm'\n"


def error_of(folder: Path, harm: str, code: int) -> str:
    (folder / "my_agent.py").write_text(harm + AGENT)
    (folder / "agentmut.yaml").write_text(PROJECT)
    (folder / "s.yaml").write_text("- {name: s, input: hi, evaluators: [{contains: hello}]}\n")
    done = run_agentmut(folder, "run", "--yes", "--json")
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    error: str = json.loads(done.stdout)["error"]
    return error


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ("import sys; sys.path.clear()", "removed the folders of installed packages from sys.path"),
        ("import sys; sys.modules.clear()", "removed modules of Python or of agentmut from sys.modules"),
        (
            "import sys; sys.modules.clear(); 1 / 0",
            "removed modules of Python or of agentmut from sys.modules",
        ),
        ("import sys; sys.setrecursionlimit(60)", "lowered the recursion limit to 60"),
    ],
)
def test_what_a_module_has_done_to_python_is_told(tmp_path: Path, harm: str, told: str) -> None:
    error = error_of(tmp_path, harm, 2)
    assert f"importing my_agent has {told}. agentmut imports the module in its own process" in error
    assert "isolate: process" not in error


def test_a_module_that_ends_the_process_is_named(tmp_path: Path) -> None:
    harm = "import os, threading, time\nthreading.Thread(target=os._exit, args=(3,)).start()\ntime.sleep(9)"
    error = error_of(tmp_path, harm, 4)
    assert "ended with exit code 3 in the middle of its work" in error
    assert "At that time it was in the import of module 'my_agent'." in error


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (-signal.SIGALRM, "A timer ended it"),
        (-signal.SIGPROF, "A timer ended it"),
        (-signal.SIGHUP, "Another process sent that signal"),
        (-signal.SIGKILL, "The system sends SIGKILL if its memory is full"),
        (-signal.SIGSEGV, "by os._exit or by a crash"),
        (3, "by os._exit or by a crash"),
    ],
)
def test_the_message_names_what_can_have_ended_the_process(code: int, told: str) -> None:
    def work() -> None:
        faulthandler.disable()  # its stacks say nothing here
        if code < 0:
            os.kill(os.getpid(), -code)
        os._exit(code)

    assert told in supervised(work, "").problem


def test_a_module_may_change_what_agentmut_does_not_need(tmp_path: Path) -> None:
    """A script's folder that leaves `sys.path`, a module that is forgotten, and a higher limit."""
    (tmp_path / "moody.py").write_text(
        "import sys\nsys.path.remove('/nowhere')\nsys.modules.pop('colorsys')\n"
        "sys.setrecursionlimit(sys.getrecursionlimit() + 1)\nrun = print\n"
    )
    code = (
        "import sys, colorsys\nfrom pathlib import Path\nfrom agentmut._base import import_object\n"
        "sys.path.append('/nowhere')\nassert import_object('moody:run', Path.cwd()) is print\n"
        "assert '/nowhere' not in sys.path and 'colorsys' not in sys.modules\n"
        "assert sys.getrecursionlimit() == 1001\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
