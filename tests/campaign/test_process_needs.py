"""Code that may end a whole process is told by its source."""

from pathlib import Path

import pytest

from agentmut.campaign.preparation.engines import make_executor
from agentmut.campaign.preparation.process_needs import process_needs
from agentmut.campaign.preparation.session import open_session
from agentmut.doctor.beforehand import isolation_checks
from agentmut.project.loading import load_project
from agentmut.trial.executor import LocalExecutor
from agentmut.trial.isolation import ProcessExecutor

CRASHING = (
    "from os import abort as stop\n\n\nasync def run(config, input):\n    0 if input else stop()\n"
    "    return 'hi'\n"
)
QUIET = "import os\n\n\nasync def run(config, input):\n    return os.path.abspath('abort') if os.getpid() else 'hi'\n"
BLOCKING = "def run(config, input):\n    return 'hi'\n"


def project_in(folder: Path, agent: str, isolate: str) -> Path:
    module = f"needing_{folder.name}"
    (folder / f"{module}.py").write_text(agent)
    (folder / "s.yaml").write_text("- {name: s, input: hi, evaluators: [{contains: hi}]}\n")
    (folder / "agentmut.yaml").write_text(
        f"version: 1\nagent: {{adapter: python, run: '{module}:run', config: {{prompt: Hi}}}}\n"
        f"suite: {{scenarios: s.yaml}}\nexecution: {{isolate: {isolate}}}\n"
    )
    return folder


def test_calls_are_found_under_whatever_name(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import os as o\nimport ctypes\n\no.kill(1, 9)\nctypes.CDLL(None)\n")
    (tmp_path / "b.py").write_text("this is no Python")
    (tmp_path / "c.py").write_text("def kill(): ...\n\nkill()\nself.os.abort()\n")
    assert process_needs(tmp_path) == (
        "a.py:4 calls os.kill, which may end the process",
        "a.py:5 calls ctypes.CDLL, and a fault in machine code crashes the process",
    )


@pytest.mark.parametrize(
    "call",
    ["sys.settrace", "sys.setprofile", "sys.addaudithook", "threading.settrace", "threading.setprofile"],
)
def test_what_python_calls_in_all_code_is_found(tmp_path: Path, call: str) -> None:
    module, _, name = call.partition(".")
    (tmp_path / "a.py").write_text(f"from {module} import {name} as watch\n\nwatch(print)\n")
    (need,) = process_needs(tmp_path)
    assert need.startswith(f"a.py:3 calls {call}, which Python calls in ")


SPELLINGS = {
    "imported by name": "from {module} import {name}\n\n{name}(print)\n",
    "imported under another name": "from {module} import {name} as watch\n\nwatch(print)\n",
    "of a renamed module": "import {module} as m\n\nm.{name}(print)\n",
    "kept in a variable": "import {module}\n\nwatch = {module}.{name}\nwatch(print)\n",
    "passed on": "import functools\nimport {module}\nfunctools.partial({module}.{name}, print)()\n",
    "by getattr": "import {module}\n\ngetattr({module}, '{name}')(print)\n",
    "by importlib": "import importlib\n\nimportlib.import_module('{module}').{name}(print)\n",
    "by importlib and getattr": "from importlib import import_module\n\ngetattr(import_module('{module}'), '{name}')\n",
    "by __import__": "\n\n__import__('{module}').{name}(print)\n",
    "in the body of a class": "import {module}\nclass Watching:\n    watch = {module}.{name}\n",
    "as a decorator": "import {module}\n\n@{module}.{name}\ndef seen(frame, event, argument): ...\n",
}
WATCHING = (
    "sys.settrace",
    "sys.setprofile",
    "threading.settrace",
    "threading.setprofile",
    "sys.addaudithook",
)


@pytest.mark.parametrize("call", WATCHING)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_each_spelling_in_a_module_that_the_agent_imports_is_found(
    tmp_path: Path, call: str, spelling: str
) -> None:
    module, _, name = call.partition(".")
    (tmp_path / "helpers").mkdir()
    (tmp_path / "helpers" / "watch.py").write_text(SPELLINGS[spelling].format(module=module, name=name))
    (need,) = process_needs(tmp_path)
    assert need.startswith("helpers/watch.py:3 ")
    assert f" {call}, which Python calls in " in need


def test_a_spelling_makes_auto_choose_processes_and_doctor_says_so(tmp_path: Path) -> None:
    agent = "import sys\n\n\nclass Agent:\n    watch = sys.settrace\n\n\nasync def run(config, input): ...\n"
    session = open_session(load_project(project_in(tmp_path, agent, "auto")))
    assert isinstance(make_executor(session)._inner._inner, ProcessExecutor)  # type: ignore[attr-defined]
    (check,) = isolation_checks(session)
    assert ":5 names sys.settrace, which " in check.said


@pytest.mark.parametrize(
    "code",
    [
        "import sys\nname = 'settrace'\ngetattr(sys, name)(print)\n",
        "import os\nos.kill = print\n",
        "kill = 9\n",
    ],
)
def test_neither_a_name_made_at_run_time_nor_a_name_that_is_set_is_found(tmp_path: Path, code: str) -> None:
    (tmp_path / "a.py").write_text(code)
    assert process_needs(tmp_path) == ()


@pytest.mark.parametrize(
    ("agent", "isolate", "kind"),
    [
        (CRASHING, "auto", ProcessExecutor),
        (QUIET, "auto", LocalExecutor),
        (CRASHING, "task", LocalExecutor),
        (BLOCKING, "auto", ProcessExecutor),
        (BLOCKING, "task", LocalExecutor),
    ],
)
def test_auto_isolates_where_the_code_needs_it(tmp_path: Path, agent: str, isolate: str, kind: type) -> None:
    executor = make_executor(open_session(load_project(project_in(tmp_path, agent, isolate))))
    assert isinstance(executor._inner._inner, kind)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("isolate", "ok"), [("task", [False]), ("auto", [True]), ("process", [])])
def test_doctor_says_it_beforehand(tmp_path: Path, isolate: str, ok: list[bool]) -> None:
    session = open_session(load_project(project_in(tmp_path, CRASHING, isolate)))
    found = list(isolation_checks(session))
    assert [check.ok for check in found] == ok
    assert all(":5 calls os.abort, which crashes the process" in check.said for check in found)


@pytest.mark.parametrize("isolate", ["task", "auto"])
def test_doctor_says_what_runs_in_a_thread(tmp_path: Path, isolate: str) -> None:
    """There neither a timeout nor a signal ends a call that keeps Python's lock."""
    project = project_in(
        tmp_path, f"{BLOCKING}\n\ndef prepare(scenario): ...\n\n\nasync def tidy(scenario): ...\n", isolate
    )
    module = f"needing_{tmp_path.name}"
    hooks = f"setup: '{module}:prepare', teardown: '{module}:tidy'"
    (project / "s.yaml").write_text(f"- {{name: s, input: hi, {hooks}, evaluators: [{{contains: hi}}]}}\n")
    agent, hook = list(isolation_checks(open_session(load_project(project))))
    assert agent.said.startswith("run, which is no async function, runs in a thread")
    assert hook.said.startswith(f"{module}:prepare, which is no async function, runs in a thread")
    chosen = "isolate: auto gives trials processes of their own"
    assert all((chosen in check.said) == (isolate == "auto") for check in (agent, hook))
    assert all(
        "write `execution: {isolate: process}`" in check.said for check in (agent, hook) if isolate == "task"
    )
