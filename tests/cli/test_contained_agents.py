"""What an agent does to the process that it shares with others is its own failure, and the JSON is written."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentmut.recording.threads import AgentExitError, users_context
from agentmut.trial.containment import contained
from tests.warm_command import AGENTMUT, ROOT

pytestmark = pytest.mark.process

LIMIT = 600
SEIZURES = {
    "cancels every task": "for task in asyncio.all_tasks(): task.cancel()",
    "stops the loop": "asyncio.get_running_loop().stop()",
    "ends the process": "os._exit(0)",
    "lowers the recursion limit": "sys.setrecursionlimit(sys.getrecursionlimit() // 2)",
    "raises what nobody catches": "raise BaseException('mine')",
    "closes the file of stdout, which works once": "os.close(1)",
    "forks and raises in both": "os.fork(); raise ValueError",
}
HARMLESS = {
    "closes stdout": "sys.stdout.close()",
    "closes stderr": "sys.stderr.close()",
    "forks": "os.fork()",
    "forks and awaits": "os.fork(); await asyncio.sleep(0.01)",
}


def write(folder: Path, seizure: str, kind: str) -> Path:
    """A project whose agent does it only where it is not told to greet."""
    (folder / "my_agent.py").write_text(
        f"import asyncio, os, sys\n{kind} run(config, input):\n"
        f"    if config.prompt and 'greet' not in config.prompt:\n        {seizure}\n"
        "    return 'hello' if config.prompt else 'hm'\n"
    )
    (folder / "scenarios").mkdir()
    (folder / "scenarios" / "s.yaml").write_text("- {name: s, input: hi, evaluators: [{contains: hello}]}\n")
    (folder / "agentmut.yaml").write_text(
        "version: 1\nagent:\n  adapter: python\n  run: my_agent:run\n"
        '  config: {prompt: "Always greet the user. Be brief."}\n'
        "mutation: {operators: [prompt.drop_instruction]}\nstatistics: {baseline: 20, rounds: one}\n"
        "execution: {concurrency: 3}\nbudget: {trials: 90}\n"
    )
    return folder


def statuses(project: Path) -> dict[str, str]:
    done = subprocess.run(
        [*AGENTMUT, "run", "--yes", "--json"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert done.returncode in (0, 3), done.stderr
    assert not done.stderr.count("Traceback"), done.stderr
    return {m["before"].strip(): m["status"] for m in json.loads(done.stdout)["mutants"]}


@pytest.mark.parametrize("seizure", SEIZURES)
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_an_agent_that_seizes_the_process_fails_alone(tmp_path: Path, seizure: str, kind: str) -> None:
    if kind == "def" and "asyncio." in SEIZURES[seizure]:
        pytest.skip("a sync agent has no event loop")
    found = statuses(write(tmp_path, SEIZURES[seizure], kind))
    assert found["Always greet the user."] == "killed"
    assert found["Be brief."] != "killed"


def test_a_range_of_files_is_closed_by_agentmut_and_by_forks_only() -> None:
    """Among the descriptors from 3 on are those of the store, of the event loop and of other trials."""
    read, write = os.pipe()

    async def close() -> None:
        with contained(asyncio.get_running_loop()):
            with pytest.raises(AgentExitError, match=r"os\.closerange\(3, 256\) was called"):
                users_context().run(os.closerange, 3, 256)
            os.closerange(read, read + 1)

    asyncio.run(close())
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(read)
    os.close(write)


@pytest.mark.parametrize(
    ("call", "target", "number"),
    [
        ("kill", os.getpid, signal.SIGKILL),
        ("kill", os.getpid, signal.SIGSTOP),
        ("kill", os.getppid, signal.SIGTERM),
        ("kill", int, signal.SIGTERM),
        ("killpg", int, signal.SIGKILL),
        ("killpg", os.getpgrp, signal.SIGTERM),
    ],
)
def test_an_agent_cannot_kill_the_process_or_its_supervisor(
    call: str, target: Callable[[], int], number: int
) -> None:
    async def kill() -> None:
        with contained(asyncio.get_running_loop()), pytest.raises(AgentExitError, match=rf"os\.{call}\("):
            users_context().run(getattr(os, call), target(), number)

    asyncio.run(kill())


def test_an_agent_may_ask_whether_a_process_lives_and_signal_itself() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: heard.append(number))

    async def ask() -> None:
        with contained(asyncio.get_running_loop()):
            users_context().run(os.kill, os.getppid(), 0)
            users_context().run(os.kill, os.getpid(), signal.SIGUSR1)

    try:
        asyncio.run(ask())
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert heard == [signal.SIGUSR1]


@pytest.mark.parametrize("act", HARMLESS)
def test_an_agent_that_closes_or_copies_what_is_shared_harms_nobody(tmp_path: Path, act: str) -> None:
    kind = "async def" if "await" in HARMLESS[act] else "def"
    assert "killed" not in statuses(write(tmp_path, HARMLESS[act], kind)).values()


@pytest.mark.parametrize("owner", ["os", "posix"])
def test_a_mask_of_an_agent_leaves_the_owner_access_to_new_files(tmp_path: Path, owner: str) -> None:
    """The store and the results are made in the same process."""

    async def mask() -> None:
        with contained(asyncio.get_running_loop()):
            before = sys.modules[owner].umask(0o777)
            (tmp_path / "mine").mkdir()
            assert os.umask(before) == 0o077

    asyncio.run(mask())
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o700
