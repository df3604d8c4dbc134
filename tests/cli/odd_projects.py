"""Projects with odd code of users, for a property: a command ends with a documented exit code, and JSON.

The code is that of an agent, an evaluator, a hook, a relation, a function that reads facts, or an operator.
"""

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from hypothesis import strategies as st

from tests.warm_command import AGENTMUT, ROOT

LIMIT = 240
"""Seconds until a command is taken for one that never ends."""
DOCUMENTED = frozenset({0, 2, 3, 4, 130})
"""The exit codes that a command may have here. 1 is evidence against an agent: `run` never gives it, and in projects
for `relations` the agent keeps every relation."""
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
RESULTS = (
    "None", "0", "'yes'", "object()", "float('nan')", "'x' * 10**6", "[]", "(False,)", "{}", "iter(())", "'\\ud800'",
    "['\\ud800']", "{'\\ud800': 10**5000}",
)  # fmt: skip
"""What a part of a relation, a function of facts or an operator may return."""
RELATION = """
from agentmut import FollowUp, FollowUpRun, example, relation

def _nothing(*_):
    return ''

@relation("perturbation.odd", why="Odd.", lack={lack}, holds={holds}, examples=[example("a", "b", "b", holds=True)])
def odd(source):
{body}    return FollowUp(runs=(FollowUpRun(turns=("ho",)),), description="another greeting")
"""
OPERATOR = """
from agentmut import AgentConfig, Candidate, Example, operator, prompt_edit

@operator("prompt.odd", why="Odd.", examples=[Example(AgentConfig(prompt="Be odd."), AgentConfig(prompt="odd."))])
def odd(config, options):
{body}    at = config.prompt.find("Be ")
    return [Candidate(edits=(prompt_edit(config.prompt, at, at + 3, ""),), description="odd", anchor="Be ")]
"""


class OddProject(NamedTuple):
    """What the code of a user does before it answers: of an agent, an evaluator, a hook, or the code at `place`."""

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
    place: str = ""
    """`follow_up`, `holds`, `lack`, `facts` or `operator`; empty for no such code."""
    place_acts: tuple[str, ...] = ()
    place_answer: str = ""
    """What it returns; empty for what it should."""

    @property
    def verb(self) -> str:
        """Return the verb that runs all code of the project."""
        return "run" if self.place in ("", "operator") else "relations"

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
        if self.place:
            (folder / "placed.py").write_text(self._placed())
        (folder / "agentmut.yaml").write_text(
            "version: 1\nagent:\n  adapter: python\n  run: my_agent:run\n"
            f"  config: {{prompt: {PROMPT!r}}}\n"
            f"{self._asks()}statistics: {{baseline: 10, rounds: one}}\n"
            f"execution: {{concurrency: 2, retries: 0, timeout: 2, evaluator_timeout: 5, isolate: {self.isolate}}}\n"
            "budget: {trials: 24}\n"
        )

    def _asks(self) -> str:
        """Return the parts of the project file that name operators and relations."""
        if self.place == "operator":
            return "mutation: {own_operators: ['placed:odd'], operators: [prompt.odd]}\n"
        operators = "mutation: {operators: [prompt.drop_instruction]}\n"
        if self.place == "facts":
            use = "use: [oracle.no_change], compare: [{python: 'placed:facts'}]"
        else:
            use = "own: ['placed:odd'], use: [perturbation.odd]"
        return f"{operators}relations: {{{use}, sources: 12, pairs: 4}}\n" if self.place else operators

    def _placed(self) -> str:
        """Return the module with the code at the project's `place`."""
        if self.place == "facts":
            return _function("def", "facts(trace)", self.place_acts, self.place_answer or "['hello']")
        body = "".join(f"    {act}\n" for act in self.place_acts)
        body += f"    return {self.place_answer}\n" if self.place_answer else ""
        if self.place == "operator":
            return HEAD + OPERATOR.format(body=body)
        functions = {
            "lack": f"def lack(scenario, config):\n{body}    return ''\n",
            "holds": f"def holds(pair):\n{body}    return True\n",
        }
        names = {name: name if name == self.place else "_nothing" for name in ("lack",)}
        holds = "holds" if self.place == "holds" else "None"
        own = body if self.place == "follow_up" else ""
        return HEAD + functions.get(self.place, "") + RELATION.format(body=own, holds=holds, **names)

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
NO_PLACE = {"place": st.just(""), "place_acts": st.just(()), "place_answer": st.just("")}
NO_JUDGE = {"judge_acts": st.just(()), "verdict": st.just("")}
PLAIN_AGENT = {
    "kind": KINDS,
    "acts": st.just(("pass",)),
    "answer": st.just("'hello'"),
    "only_mutants": st.just(True),
    **NO_JUDGE,
}
"""An agent that answers as it should."""


def one_or_two(acts: Sequence[str]) -> st.SearchStrategy[tuple[str, ...]]:
    """Draw one act or two."""
    return st.lists(st.sampled_from(acts), min_size=1, max_size=2).map(tuple)


BLOCKING_ACTS = [act for act in ACTS if "asyncio." not in act]
"""What a function can do that no event loop calls."""
ODD_AGENTS = st.builds(
    OddProject,
    kind=KINDS,
    acts=one_or_two(ACTS),
    answer=st.sampled_from(ANSWERS),
    only_mutants=st.booleans(),
    **NO_JUDGE,
    isolate=ISOLATIONS,
    **NO_HOOK,
    **NO_PLACE,
)
ODD_EVALUATORS = st.builds(
    OddProject,
    kind=st.just("def"),
    acts=st.just(("pass",)),
    answer=st.sampled_from(ANSWERS),
    only_mutants=st.booleans(),
    judge_acts=st.lists(st.sampled_from(BLOCKING_ACTS), max_size=2).map(tuple),
    verdict=st.sampled_from(VERDICTS),
    isolate=st.just("task"),
    **NO_HOOK,
    **NO_PLACE,
)
ODD_HOOKS = st.builds(
    OddProject,
    **PLAIN_AGENT,
    isolate=ISOLATIONS,
    hook=st.sampled_from(["setup", "teardown"]),
    hook_kind=KINDS,
    hook_acts=one_or_two(ACTS),
    **NO_PLACE,
)
ODD_PLACES = st.builds(
    OddProject,
    **PLAIN_AGENT,
    isolate=st.just("task"),
    **NO_HOOK,
    place=st.sampled_from(["follow_up", "holds", "lack", "facts", "operator"]),
    place_acts=one_or_two(BLOCKING_ACTS),
    place_answer=st.sampled_from(["", "", *RESULTS]),
)
ODD_PROJECTS = ODD_AGENTS | ODD_EVALUATORS | ODD_HOOKS | ODD_PLACES


class Ended(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: bytes
    stderr: bytes


def started(folder: Path, verb: str) -> Ended:
    """Run the verb with `--json` in a process of its own."""
    done = subprocess.run(
        [*AGENTMUT, verb, "--yes", "--json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def check(project: OddProject, folder: Path, run: Callable[[Path, str], Ended] = started) -> int:
    """Run the project's verb with `--json`; return its exit code, or raise `AssertionError` for a wrong end."""
    project.write(folder)
    done = run(folder, project.verb)
    told = f"{project}: {done.returncode}\n{done.stdout[-2000:]!r}\n{done.stderr.decode(errors='replace')[-4000:]}"
    assert done.returncode in DOCUMENTED, told
    try:
        document = json.loads(done.stdout)
    except ValueError:
        raise AssertionError(f"no JSON: {told}") from None
    assert document.get("exit_code", done.returncode) == done.returncode, told
    assert b"this is a bug in agentmut" not in done.stderr, told
    return done.returncode
