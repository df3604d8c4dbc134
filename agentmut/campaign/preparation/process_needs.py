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
    "resource.prlimit": "which may hold for all trials of the process",
    "sys.settrace": "which Python calls in agentmut's own code, too",
    "sys.setprofile": "which Python calls in agentmut's own code, too",
    "sys.addaudithook": "which Python calls in agentmut's own code, too, and never takes back",
    "threading.settrace": "which Python calls in each new thread, those of agentmut too",
    "threading.setprofile": "which Python calls in each new thread, those of agentmut too",
}
"""Functions that no Python code can contain, by their dotted names."""
_IMPORTING = frozenset({"__import__", "importlib.import_module", "importlib.__import__"})
MOST = 3
"""Places that are named."""


def process_needs(root: Path) -> tuple[str, ...]:
    """Return where the Python files of a project do what ends or changes a whole process: place, call and effect.

    A function that is passed on, as in `watch = sys.settrace`, is found like a call. A name that is made at run time is
    not found; files that cannot be parsed are passed over.
    """
    found = (need for path in sorted(python_files(root)) for need in _needs(path, root))
    return tuple(need for _, need in zip(range(MOST), found, strict=False))


def _needs(path: Path, root: Path) -> Iterator[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError, RecursionError):
        return
    names = dict(_imported(tree))
    calls = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and (effect := _ENDS.get(named := _named(node, names))):
            verb = "calls" if id(node) in calls else "names"
            yield f"{path.relative_to(root).as_posix()}:{node.lineno} {verb} {named}, {effect}"


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the names in a file with the objects that they name: `abort` for `from os import abort`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _named(node: ast.expr, names: dict[str, str]) -> str:
    """Return the object that an expression names: `os.abort` for `getattr(import_module("os"), "abort")`, too."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            return names.get(name, name)
        case ast.Attribute(value=owner, attr=part, ctx=ast.Load()):
            return _joined(_named(owner, names), part)
        case ast.Call(func=function, args=[ast.Constant(value=str(module)), *_]):
            return module if _named(function, names) in _IMPORTING else ""
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(part)), *_]):
            return _joined(_named(owner, names), part)
    return ""


def _joined(owner: str, part: str) -> str:
    return f"{owner}.{part}" if owner else ""


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
