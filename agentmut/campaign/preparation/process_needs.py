"""Signs in an agent's code that a trial may end or stop its process: then trials need processes of their own."""

import ast
import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path

from agentmut.campaign.preparation.identity import python_files
from agentmut.nouns import Scenario
from agentmut.seams import Adapter, RunsInThread
from agentmut.trial import inside, resolve_hooks

_ENDS = {
    "os.abort": "which crashes the process",
    "os.kill": "which may end the process",
    "os.killpg": "which may end the process",
    "os.execv": "which replaces the process",
    "os.execve": "which replaces the process",
    "os.execvp": "which replaces the process",
    "signal.raise_signal": "which may end the process",
    "faulthandler._sigsegv": "which crashes the process",
    "ctypes.CDLL": "and a fault in machine code crashes the process",
    "ctypes.string_at": "and a wrong address crashes the process",
    "resource.setrlimit": "which holds for all trials of the process",
    "sys.settrace": "which Python calls in agentmut's own code, too",
    "sys.setprofile": "which Python calls in agentmut's own code, too",
    "sys.addaudithook": "which Python calls in agentmut's own code, too, and never takes back",
    "threading.settrace": "which Python calls in each new thread, those of agentmut too",
    "threading.setprofile": "which Python calls in each new thread, those of agentmut too",
}
"""Calls that no Python code can contain, by their dotted names."""
MOST = 3
"""Places that are named."""


def process_needs(root: Path) -> tuple[str, ...]:
    """Return where the Python files of a project do what ends or changes a whole process: place, call and effect.

    Only what the code says in plain words is found; files that cannot be parsed are passed over.
    """
    found = (need for path in sorted(python_files(root)) for need in _needs(path, root))
    return tuple(need for _, need in zip(range(MOST), found, strict=False))


def _needs(path: Path, root: Path) -> Iterator[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError, RecursionError):
        return
    names = dict(_imported(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (effect := _ENDS.get(called := _called(node.func, names))):
            yield f"{path.relative_to(root).as_posix()}:{node.lineno} calls {called}, {effect}"


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the names in a file with the objects that they name: `abort` for `from os import abort`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _called(function: ast.expr, names: dict[str, str]) -> str:
    parts: list[str] = []
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    if not isinstance(function, ast.Name):
        return ""
    return ".".join([names.get(function.id, function.id), *reversed(parts)])


def kept_lock_needs(adapter: Adapter, scenarios: Sequence[Scenario], root: Path) -> Iterator[str]:
    """Yield which code of the user runs in a thread, where a call that keeps Python's lock cannot be broken off.

    Such a call, a catastrophic regular expression for one, lets nothing else run: neither a timeout nor other trials.
    """
    agent = inside(adapter)
    threads = [agent.in_thread] if isinstance(agent, RunsInThread) and agent.in_thread else []
    hooks = {name for scenario in scenarios for name in _blocking_hooks(scenario, root)}
    for who in (*threads, *sorted(hooks)):
        yield f"{who} runs in a thread"


def _blocking_hooks(scenario: Scenario, root: Path) -> Iterator[str]:
    """Yield the hooks of a scenario that are no async functions."""
    hooks = resolve_hooks(scenario, root)
    for named, hook in ((scenario.setup, hooks.setup), (scenario.teardown, hooks.teardown)):
        if hook is not None and not inspect.iscoroutinefunction(hook):
            yield f"{named}, which is no async function,"
