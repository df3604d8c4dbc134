"""Projects with odd agents and odd evaluators, for a property: a command ends with a documented exit code, and JSON."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hypothesis import strategies as st

from tests.warm_command import AGENTMUT, ROOT

LIMIT = 240
"""Seconds until a command is taken for one that never ends."""
DOCUMENTED = frozenset({0, 2, 3, 4, 130})
"""The exit codes that `run` may have: 1 is evidence against an agent, which `run` never gives."""
PROMPT = "Always greet the user. Be brief."
HEAD = (
    "import asyncio, builtins, gc, io, json, logging, os, resource, signal, subprocess, sys, threading, time\n"
    "import warnings\n"
)
ACTS = (
    "pass",
    "print('x' * 10000)",
    "print('\\ud800'.encode('utf-8', 'surrogatepass'))",
    "os.write(1, b'\\xff\\x00raw')",
    "sys.stdout.close()",
    "sys.stderr.close()",
    "os.close(1)",
    "os.close(2)",
    "sys.stdout = None",
    "sys.stderr = io.StringIO()",
    "raise ValueError('odd')",
    "raise BaseException('odd')",
    "raise KeyboardInterrupt",
    "raise SystemExit(1)",
    "raise GeneratorExit",
    "raise asyncio.CancelledError",
    "raise StopIteration",
    "raise StopAsyncIteration",
    "raise MemoryError",
    "raise RecursionError('deep')",
    "raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})()",
    "raise type('Odd', (Exception,), {'__repr__': lambda self: 1 / 0})('x')",
    "raise ExceptionGroup('many', [ValueError(1), OSError(2)])",
    "raise ConnectionError('lost')",
    "raise TimeoutError",
    "sys.exit(1)",
    "sys.exit('text')",
    "os._exit(0)",
    "os._exit(1)",
    "os.kill(os.getpid(), signal.SIGKILL)",
    "os.kill(os.getpid(), signal.SIGSEGV)",
    "os.kill(os.getpid(), signal.SIGINT)",
    "os.kill(os.getpid(), signal.SIGTERM)",
    "os.abort()",
    "os.fork()",
    "sys.setrecursionlimit(60)",
    "sys.setrecursionlimit(10**6)",
    "(lambda f: f(f))(lambda f: f(f))",
    "time.sleep(0.01)",
    "signal.signal(signal.SIGINT, signal.SIG_IGN) if threading.current_thread() is threading.main_thread() else 0",
    "os.environ.clear()",
    "os.chdir('/')",
    "sys.modules.clear()",
    "sys.path.clear()",
    "gc.disable()",
    "warnings.simplefilter('error')",
    "logging.disable()",
    "logging.getLogger().setLevel(0)",
    "threading.Thread(target=time.sleep, args=(0.2,)).start()",
    "threading.Thread(target=sys.exit).start()",
    "subprocess.run(['true'])",
    "subprocess.run(['no-such-program'])",
    "os.umask(0o777)",
    "time.monotonic = lambda: -1.0",
    "asyncio.get_running_loop().stop()",
    "asyncio.get_running_loop().close()",
    "[task.cancel() for task in asyncio.all_tasks()]",
    "asyncio.run(asyncio.sleep(0))",
    "asyncio.get_running_loop().call_soon(lambda: 1 / 0)",
    "asyncio.get_running_loop().set_debug(True)",
    "globals().clear()",
    "builtins.isinstance = None",
    "builtins.len = lambda each: 0",
    "builtins.print = None",
    "json.dumps = None",
    "threading.excepthook = None",
    "os.closerange(3, 4096)",
    "os.killpg(0, 9)",
    "os.kill(os.getppid(), signal.SIGTERM)",
    "resource.setrlimit(resource.RLIMIT_AS, (1000, 1000))",
    "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))",
    "resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))",
    "sys.settrace(lambda *_: 1 / 0)",
    "sys.setprofile(lambda *_: 1 / 0)",
    "sys.addaudithook(lambda *_: 1 / 0)",
    "threading.settrace(lambda *_: 1 / 0)",
    "threading.setprofile(lambda *_: 1 / 0)",
)
ANSWERS = (
    "'hello'", "''", "None", "0", "float('nan')", "b'bytes'", "[]", "{}", "{1: 2}", "object()", "'\\ud800'",
    "'\\x00'", "'hello' * 10**5", "[[[[[]]]]]", "{'hello': {1, 2}}", "lambda: 1", "ValueError('returned')", "iter(())",
    "(i for i in 'hello')", "type", "10**5000", "True",
)  # fmt: skip
VERDICTS = (
    "True", "False", "None", "1", "'yes'", "(True, 'because')", "(False, '\\ud800')", "(True,)", "(1, 2, 3)", "[]",
    "object()", "float('nan')", "(False, 'x' * 10**5)",
    "'x' * 10**6", "list(range(10**5))",
)  # fmt: skip


class OddProject(NamedTuple):
    """What an agent, an evaluator and a hook do before they answer."""

    kind: str
    acts: tuple[str, ...]
    answer: str
    only_mutants: bool
    judge_acts: tuple[str, ...] = ()
    verdict: str = ""
    isolate: str = "task"
    hook: str = ""
    """`setup` or `teardown`; empty for none."""
    hook_kind: str = "def"
    hook_acts: tuple[str, ...] = ()

    def write(self, folder: Path) -> None:
        """Write the project's files."""
        (folder / "my_agent.py").write_text(self._agent(), errors="surrogatepass")
        evaluator = "{contains: hello}"
        if self.verdict:
            evaluator = "{python: 'judge:judge'}"
            judge = _function("def", "judge(trace)", self.judge_acts, self.verdict)
            (folder / "judge.py").write_text(judge)
        hook = ""
        if self.hook:
            hook = f", {self.hook}: 'hooks:hook'"
            (folder / "hooks.py").write_text(
                _function(self.hook_kind, "hook(scenario)", self.hook_acts, "None")
            )
        (folder / "scenarios").mkdir(exist_ok=True)
        (folder / "scenarios" / "s.yaml").write_text(
            f"- {{name: s, input: hi, evaluators: [{evaluator}]{hook}}}\n"
        )
        (folder / "agentmut.yaml").write_text(
            "version: 1\nagent:\n  adapter: python\n  run: my_agent:run\n"
            f"  config: {{prompt: {PROMPT!r}}}\n"
            "mutation: {operators: [prompt.drop_instruction]}\nstatistics: {baseline: 10, rounds: one}\n"
            f"execution: {{concurrency: 2, retries: 0, timeout: 2, evaluator_timeout: 5, isolate: {self.isolate}}}\n"
            "budget: {trials: 24}\n"
        )

    def _agent(self) -> str:
        acts = "".join(f"        {act}\n" for act in self.acts)
        when = f"config.prompt not in ('', {PROMPT!r})" if self.only_mutants else "config.prompt"
        body = f"    if {when}:\n{acts}        return {self.answer}\n    return 'hello' if config.prompt else 'hm'\n"
        return f"{HEAD}{self.kind} run(config, input):\n{body}"


def _function(kind: str, header: str, acts: tuple[str, ...], answer: str) -> str:
    """Return a module with one function that does the acts and returns the answer."""
    done = "".join(f"    {act}\n" for act in acts)
    return f"{HEAD}{kind} {header}:\n{done}    return {answer}\n"


KINDS = st.sampled_from(["def", "async def"])
ISOLATIONS = st.sampled_from(["task"] * 19 + ["process"])
"""A worker process takes far longer."""
NO_HOOK = {"hook": st.just(""), "hook_kind": st.just("def"), "hook_acts": st.just(())}
"""`builds` would draw what is left out from its type."""
ODD_AGENTS = st.builds(
    OddProject,
    kind=KINDS,
    acts=st.lists(st.sampled_from(ACTS), min_size=1, max_size=2).map(tuple),
    answer=st.sampled_from(ANSWERS),
    only_mutants=st.booleans(),
    judge_acts=st.just(()),
    verdict=st.just(""),
    isolate=ISOLATIONS,
    **NO_HOOK,
)
ODD_EVALUATORS = st.builds(
    OddProject,
    kind=st.just("def"),
    acts=st.just(("pass",)),
    answer=st.sampled_from(ANSWERS),
    only_mutants=st.booleans(),
    judge_acts=st.lists(st.sampled_from([act for act in ACTS if "asyncio." not in act]), max_size=2).map(
        tuple
    ),
    verdict=st.sampled_from(VERDICTS),
    isolate=st.just("task"),
    **NO_HOOK,
)
ODD_HOOKS = st.builds(
    OddProject,
    kind=KINDS,
    acts=st.just(("pass",)),
    answer=st.just("'hello'"),
    only_mutants=st.just(True),
    judge_acts=st.just(()),
    verdict=st.just(""),
    isolate=ISOLATIONS,
    hook=st.sampled_from(["setup", "teardown"]),
    hook_kind=KINDS,
    hook_acts=st.lists(st.sampled_from(ACTS), min_size=1, max_size=2).map(tuple),
)
ODD_PROJECTS = ODD_AGENTS | ODD_EVALUATORS | ODD_HOOKS


class Ended(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: bytes
    stderr: bytes


def started(folder: Path) -> Ended:
    """Run `agentmut run --json` in a process of its own."""
    done = subprocess.run(
        [*AGENTMUT, "run", "--yes", "--json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def check(project: OddProject, folder: Path, run: Callable[[Path], Ended] = started) -> int:
    """Run `agentmut run --json` on the project; return its exit code, or raise `AssertionError` for a wrong end."""
    project.write(folder)
    done = run(folder)
    told = f"{project}: {done.returncode}\n{done.stdout[-2000:]!r}\n{done.stderr.decode(errors='replace')[-4000:]}"
    assert done.returncode in DOCUMENTED, told
    try:
        document = json.loads(done.stdout)
    except ValueError:
        raise AssertionError(f"no JSON: {told}") from None
    assert document.get("exit_code", done.returncode) == done.returncode, told
    assert b"this is a bug in agentmut" not in done.stderr, told
    return done.returncode
