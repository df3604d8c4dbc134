"""Seconds from the first Ctrl-C to the end of a command: `python benchmarks/ctrl_c.py [TIMES [SIGNAL [PART]]]`.

SIGNAL is SIGINT or SIGTERM; PART is a part of the names of the states that are measured.

Each state is one that code of users brings a command into. A project is written, the command begins, and SIGINT is
sent once the state is reached. Exits with 1 where a command took more than 2 s, or ended without its JSON document.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.commit import commit  # noqa: E402  (after the path is set)

LIMIT = 2.0
STUCK = 'pathlib.Path("here").touch(); re.match("^(a+)+$", "a" * 41 + "!")'
WAITS = 'pathlib.Path("here").touch(); time.sleep(600)'
HEAD = "import asyncio, os, pathlib, re, time\n"
PROCESS = "isolate: process"
THREAD = "isolate_evaluators: thread"
ASLEEP = 'async def run(config, input):\n    pathlib.Path("here").touch()\n    await asyncio.sleep(600)\n'
GOOD = 'async def run(config, input):\n    return "hello" if "greet" in config.prompt else "hm"\n'
SWALLOWS = (
    'async def run(config, input):\n    pathlib.Path("here").touch()\n    while True:\n        try:\n'
    "            await asyncio.sleep(600)\n        except asyncio.CancelledError:\n            pass\n"
)
BEGINS = 'pathlib.Path("here").touch()\n'


class State(NamedTuple):
    """A state: the agent's module, the evaluator's and the hooks' modules, and settings of `execution`."""

    name: str
    agent: str = GOOD
    judge: str = ""
    hook: str = ""
    execution: str = ""
    when: str = "setup"
    """Which of the two hooks it is."""
    verb: str = "run"
    program: str = ""
    """A shell script that is the agent, in the place of a Python function."""
    before: bool = False
    """Whether a run without the fault, of a judge that looks for a word, comes before."""
    format: str = ""
    """What a trace format of another package does before it reads a run."""
    asks_model: bool = False
    """Whether the evaluator asks a model, whose service never answers."""


CRASHES = (
    "async def run(config, input):\n    crashed = pathlib.Path('crashed')\n"
    "    if not crashed.exists():\n        crashed.touch()\n        os.kill(os.getpid(), 11)\n"
    "    pathlib.Path('here').touch()\n    await asyncio.sleep(600)\n"
)
"""An agent that crashes the first process, and waits in the second."""
LEN = (
    "import builtins\nasync def run(config, input):\n    pathlib.Path('here').touch()\n"
    "    builtins.len = lambda each: 0\n    return 'hello'\n"
)
SWALLOWS_IN_HOOK = SWALLOWS.replace("run(config, input)", "hook(scenario)")
STATES = (
    State("trials that wait", ASLEEP),
    State("trials that swallow their cancellation", SWALLOWS),
    State("a thread that waits", f"def run(config, input):\n    {WAITS}\n"),
    State("an async agent keeps Python's lock", f"async def run(config, input):\n    {STUCK}\n"),
    State("a thread keeps Python's lock", f"def run(config, input):\n    {STUCK}\n"),
    State(
        "a worker process keeps Python's lock",
        f"def run(config, input):\n    {STUCK}\n",
        execution=PROCESS,
    ),
    State("an evaluator keeps Python's lock", judge=f"def judge(trace):\n    {STUCK}\n"),
    State(
        "an evaluator in a thread does",
        judge=f"def judge(trace):\n    {STUCK}\n",
        execution=THREAD,
    ),
    State("a hook in a thread keeps Python's lock", hook=f"def hook(scenario):\n    {STUCK}\n"),
    State("an async hook keeps Python's lock", hook=f"async def hook(scenario):\n    {STUCK}\n"),
    State("the agent's module is imported", f"{STUCK}\n{GOOD}"),
    State(
        "a worker's teardown keeps Python's lock",
        hook=f"def hook(scenario):\n    {STUCK}\n",
        execution=PROCESS,
        when="teardown",
    ),
    State(
        "a program and its child ignore SIGTERM",
        program="trap '' TERM; touch here; sleep 600 & wait; sleep 600",
    ),
    State("the second process of a command", CRASHES),
    State("`test`: trials that wait", ASLEEP, verb="test"),
    State(
        "`baseline save`: a thread keeps Python's lock",
        f"def run(config, input):\n    {STUCK}\n",
        verb="baseline save",
    ),
    State(
        "`relations`: an async agent keeps Python's lock",
        f"async def run(config, input):\n    {STUCK}\n",
        verb="relations",
    ),
    State("`doctor`: a thread keeps Python's lock", f"def run(config, input):\n    {STUCK}\n", verb="doctor"),
    State(
        "`rescore`: an evaluator in a thread keeps Python's lock",
        judge=f"def judge(trace):\n    {STUCK}\n",
        execution=THREAD,
        verb="rescore",
        before=True,
    ),
    State("`import`: a trace format waits", format=WAITS, verb="import"),
    State("`import`: a trace format keeps Python's lock", format=STUCK, verb="import"),
    State("a judge waits for its model", asks_model=True),
    State("an agent leaves Python a `len` that is 0", LEN),
    State("an evaluator in a thread waits", judge=f"def judge(trace):\n    {WAITS}\n", execution=THREAD),
    State("an async teardown swallows its cancellation", hook=SWALLOWS_IN_HOOK, when="teardown"),
)


def write(folder: Path, state: State) -> None:
    """Write the project."""
    (folder / "my_agent.py").write_text(HEAD + state.agent)
    (folder / "judge.py").write_text(HEAD + state.judge)
    (folder / "hook.py").write_text(HEAD + state.hook)
    evaluator = "{python: 'judge:judge'}" if state.judge else "{contains: hello}"
    if state.asks_model:
        evaluator = "{judge: {model: 'openai:some-model', question: 'Is it polite?'}}"
    if state.format:
        write_format(folder, state.format)
    hook = f", {state.when}: 'hook:hook'" if state.hook else ""
    (folder / "agent.sh").write_text(state.program)
    agent = (
        "adapter: command, command: [sh, agent.sh]"
        if state.program
        else "adapter: python, run: 'my_agent:run'"
    )
    (folder / "s.yaml").write_text(f"- {{name: s, input: hi, evaluators: [{evaluator}]{hook}}}\n")
    (folder / "agentmut.yaml").write_text(
        f"version: 1\nagent: {{{agent}, config: {{prompt: 'Always greet. Be brief.'}}}}\n"
        "suite: {scenarios: s.yaml}\nmutation: {operators: [prompt.drop_instruction]}\n"
        f"execution: {{evaluator_timeout: 600, timeout: 600, {state.execution}}}\n"
    )


def write_format(folder: Path, act: str) -> None:
    """Install a trace format for a command in this folder, and write a file that it recognises."""
    (folder / "odd_format.py").write_text(
        f"{HEAD}class Format:\n    name = 'odd'\n    def recognises(self, head): return head == b'ODD'\n"
        f"    def read(self, files):\n        {act}\n        yield None\n"
    )
    (folder / "odd_format-1.0.dist-info").mkdir()
    (folder / "odd_format-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: odd-format\nVersion: 1\n"
    )
    (folder / "odd_format-1.0.dist-info" / "entry_points.txt").write_text(
        "[agentmut.trace_formats]\nodd = odd_format:Format\n"
    )
    (folder / "runs.odd").write_text("ODD")


@contextmanager
def silent_service(folder: Path) -> Iterator[str]:
    """Yield the address of a service that takes requests and never answers; the first one makes the file `here`."""
    listener = socket.create_server(("127.0.0.1", 0))
    taken = []

    def take() -> None:
        with suppress(OSError):  # closed at the end
            while True:
                connection, _ = listener.accept()
                taken.append(connection)
                connection.recv(65536)
                (folder / "here").touch()

    threading.Thread(target=take, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        listener.close()
        for connection in taken:
            connection.close()


def seconds_of(state: State, asked: signal.Signals = signal.SIGINT) -> tuple[float, int]:
    """Return how long the command took to end after the signal, and its exit code; -1 for no JSON document."""
    with tempfile.TemporaryDirectory() as scratch, silent_service(Path(scratch)) as service:
        folder = Path(scratch)
        write(folder, state)
        path = f"{ROOT}{os.pathsep}{folder}" if state.format else str(ROOT)
        model = {"OPENAI_BASE_URL": service, "OPENAI_API_KEY": "none"} if state.asks_model else {}
        environment = {**os.environ, "PYTHONPATH": path, **model}
        agentmut, pipe = [sys.executable, "-m", "agentmut"], subprocess.PIPE
        if state.before:
            (folder / "judge.py").write_text("def judge(trace):\n    return 'hello' in trace.text\n")
            subprocess.run(
                [*agentmut, "run", "--yes"], cwd=folder, env=environment, capture_output=True, check=True
            )
            (folder / "judge.py").write_text(HEAD + state.judge)
        yes = {"rescore": [], "import": ["runs.odd"]}.get(state.verb, ["--yes"])
        command = [*agentmut, *state.verb.split(), *yes, "--json"]
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe)
        while not (folder / "here").exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(0.5)
        begun = time.monotonic()
        process.send_signal(asked)
        output, _ = process.communicate()
        took = time.monotonic() - begun
        try:
            json.loads(output)
        except ValueError:
            return took, -1
        return took, process.returncode


def main(times: int, asked: signal.Signals = signal.SIGINT, part: str = "") -> int:
    """Measure each state so often whose name has `part`, and print the longest time of each."""
    print(f"Seconds from the first {asked.name} to the end, commit {commit()}, {times} times each\n")
    print("| state | longest, s | exit codes |\n| --- | ---: | --- |")
    late = False
    for state in STATES:
        if part not in state.name:
            continue
        found = [seconds_of(state, asked) for _ in range(times)]
        longest, codes = max(took for took, _ in found), sorted({code for _, code in found})
        late |= longest > LIMIT or codes != [130]
        print(f"| {state.name} | {longest:.2f} | {', '.join(map(str, codes))} |", flush=True)
    return 1 if late else 0


if __name__ == "__main__":
    given = sys.argv[1:]
    number = signal.Signals[given[1]] if given[1:] else signal.SIGINT
    sys.exit(main(int(given[0]) if given else 3, number, *given[2:3]))
