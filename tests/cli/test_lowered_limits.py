"""Agents that lower a limit of the system for the process that they share: told as their doing, never as a bad disk."""

import asyncio
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from agentmut.recording.threads import AgentExitError, users_context
from agentmut.trial.containment import contained
from tests.cli.late_agents import run_late_agent

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("warm")]

IMPORTS = """
import resource
from resource import prlimit  # which agentmut does not refuse
"""


def run(folder: Path, call: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return run_late_agent(folder, call, IMPORTS, **variables)


@pytest.mark.parametrize("name", ["RLIMIT_AS", "RLIMIT_FSIZE", "RLIMIT_NOFILE"])
def test_an_agent_cannot_lower_a_limit_of_the_shared_process(tmp_path: Path, name: str) -> None:
    call = f"resource.setrlimit(resource.{name}, (1, 1))"
    done = run(tmp_path, f"if config.prompt: {call}")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert [mutant["status"] for mutant in result["mutants"]] == ["killed", "survived"]
    assert "lowered" not in done.stderr


def test_a_limit_may_be_raised_and_the_trial_that_lowers_one_is_told_which() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    assert soft in {0, resource.RLIM_INFINITY} or soft <= hard

    async def call() -> None:
        with contained(asyncio.get_running_loop()):
            users_context().run(resource.setrlimit, resource.RLIMIT_CORE, (soft, hard))
            with pytest.raises(
                AgentExitError, match="the limit RLIMIT_FSIZE of the process was lowered to 4096"
            ):
                users_context().run(resource.setrlimit, resource.RLIMIT_FSIZE, (4096, 4096))
        assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 4096

    asyncio.run(call())


@pytest.mark.parametrize(
    ("name", "limit"),
    [("RLIMIT_AS", 1000), ("RLIMIT_DATA", 1000), ("RLIMIT_FSIZE", 8192), ("RLIMIT_NOFILE", 4)],
)
def test_a_limit_that_was_lowered_all_the_same_is_named_and_the_command_goes_on(
    tmp_path: Path, name: str, limit: int
) -> None:
    done = run(tmp_path, f"prlimit(0, resource.{name}, ({limit}, {limit}))")
    assert done.returncode == 0, done.stderr
    assert f"has lowered the limit {name} (to {limit}) of the process of agentmut" in done.stderr
    assert "goes on with trials and evaluators in processes of their own" in done.stderr
    assert "bug in agentmut" not in done.stderr
    result = json.loads(done.stdout)
    assert [mutant["status"] for mutant in result["mutants"]] == ["killed", "survived"]


def test_without_a_supervisor_the_limit_is_named_instead_of_the_disk(tmp_path: Path) -> None:
    call = "prlimit(0, resource.RLIMIT_FSIZE, (8192, resource.RLIM_INFINITY))"
    done = run(tmp_path, call, AGENTMUT_UNSUPERVISED="1")
    assert done.returncode == 4, done.stderr
    error = json.loads(done.stdout)["error"]
    assert "has lowered the limit RLIMIT_FSIZE (to 8192) of the process of agentmut" in error
    assert "Set `execution: {isolate: process}`" in error
    assert "Check the disk" not in error


def test_an_error_that_no_limit_explains_names_none() -> None:
    code = (
        "import errno, resource\n"
        "from agentmut._base.users_faults import limit_behind\n"
        "assert limit_behind(OSError(errno.EMFILE, 'many')) == ''\n"
        "assert 'closed files' in limit_behind(OSError(errno.EBADF, 'bad'))\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
        "assert limit_behind(OSError(errno.EACCES, 'denied')) == ''\n"
        "try:\n    raise ValueError('no page') from OSError(errno.EMFILE, 'many')\n"
        "except ValueError as error:\n    print(limit_behind(error))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    said = done.stdout
    assert "the limit RLIMIT_NOFILE (to 64)" in said
    assert said.endswith(f"cannot work with it: OSError: [Errno {24}] many.\n")


def test_a_working_folder_that_is_gone_explains_a_file_that_is_not_found(tmp_path: Path) -> None:
    code = (
        "import os\nfrom agentmut._base.users_faults import limit_behind\nlost = FileNotFoundError(2, 'lost')\n"
        "assert limit_behind(lost) == ''\nos.rmdir(os.getcwd())\nprint(limit_behind(lost))"
    )
    folder = tmp_path / "gone"
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True, env=environment
    )
    assert "has removed the working folder of the process of agentmut" in done.stdout
