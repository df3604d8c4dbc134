"""Agents that already stand in a folder: functions, methods and objects of Python that ask a model.

The code of the folder is read and never run.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from agentmut.project import own_files

STUB = "agent_under_test.py"
"""The file of a starter's agent: no test, for all its name."""
LARGEST = 200_000
"""Bytes of a file of Python that is read."""
_MADE_BY: Mapping[str, tuple[frozenset[str], frozenset[str]]] = MappingProxyType(
    {
        "langgraph": (
            frozenset({"langgraph", "langchain"}),
            frozenset({"create_agent", "create_react_agent", "compile"}),
        ),
        "openai_agents": (frozenset({"agents"}), frozenset({"Agent"})),
        "pydantic_ai": (frozenset({"pydantic_ai"}), frozenset({"Agent"})),
        "crewai": (frozenset({"crewai"}), frozenset({"Crew"})),
        "autogen": (
            frozenset({"autogen_agentchat"}),
            frozenset({"AssistantAgent", "RoundRobinGroupChat", "SelectorGroupChat", "Swarm"}),
        ),
        "google_adk": (
            frozenset({"google.adk"}),
            frozenset({"Agent", "LlmAgent", "SequentialAgent", "ParallelAgent", "LoopAgent", "App"}),
        ),
        "llama_index": (
            frozenset({"llama_index"}),
            frozenset({"FunctionAgent", "ReActAgent", "AgentWorkflow"}),
        ),
        "smolagents": (frozenset({"smolagents"}), frozenset({"CodeAgent", "ToolCallingAgent"})),
        "semantic_kernel": (frozenset({"semantic_kernel"}), frozenset({"ChatCompletionAgent"})),
    }
)
"""Adapter -> the packages of a framework, and the calls that make an agent of it."""
_CLIENTS: Mapping[str, str] = MappingProxyType(
    {
        "anthropic": "anthropic", "openai": "openai", "litellm": "python", "google.genai": "python",
        "ollama": "python", "mistralai": "python", "groq": "python", "cohere": "python",
    }
)  # fmt: skip
"""Packages whose functions ask a model -> the adapter of a function that uses them."""
_ASKING = frozenset(
    {"acompletion", "chat", "completion", "create", "generate", "generate_content", "parse", "stream"}
)
"""Names of the calls that send a request."""
_OTHER_INPUTS = frozenset(
    {"args", "argv", "cfg", "client", "config", "file", "history", "messages", "model", "path", "tools"}
)
"""Names of parameters that do not hold what a user says."""
_LISTS = frozenset({"list", "List", "Sequence"})
"""Names of types of lists: what a user says in several turns."""
_USUAL = (
    "answer",
    "run",
    "chat",
    "respond",
    "reply",
    "ask",
    "handle",
    "main",
    "agent",
    "build",
    "make",
    "graph",
)
"""Names that an agent often has; a candidate with one comes first."""


class NearbyAgent(NamedTuple):
    """An agent that was found, as a project names it."""

    adapter: str
    key: str
    """`run`, `graph` or `factory`."""
    place: str
    """`module:object`."""
    file: str
    line: int
    owner: str = ""
    """The class whose method this is; empty for everything else."""
    is_async: bool = False


class _Function(NamedTuple):
    file: str
    module: str
    node: ast.FunctionDef | ast.AsyncFunctionDef
    calls: frozenset[str]
    """Names of what is called, the last part of each."""
    names: frozenset[str]
    """Names without a dot that it uses."""
    owner: str = ""
    """The class of a method; empty for a function."""
    is_bare: bool = True
    """Whether an object of the class is made without arguments."""


class _Module(NamedTuple):
    file: str
    name: str
    tree: ast.Module
    imports: frozenset[str]


def nearby_agents(root: Path) -> tuple[NearbyAgent, ...]:
    """Return the agents of a folder's files of Python, the likeliest first.

    Agents of a framework come alone if there are any. Of agents that hand over to each other it is the one to which
    no other hands over; of functions that call each other it is the outermost one. Methods come only if no function
    asks a model.
    """
    modules = list(_modules(root))
    made = sorted(_made(modules), key=_likelihood)
    return tuple(made or sorted(_asking(modules), key=_likelihood))


def methods_with_arguments(root: Path) -> tuple[NearbyAgent, ...]:
    """Return the methods that ask a model, of public classes that are made with arguments. `nearby_agents` leaves these
    out, as nobody but the user knows the arguments.
    """
    able, asking = _able(list(_modules(root)))
    beside = (one for one in able if one.owner and not one.owner.startswith("_") and not one.is_bare)
    return tuple(sorted((_found(one, asking[one.owner, one.node.name]) for one in beside), key=_likelihood))


def _likelihood(found: NearbyAgent) -> tuple[int, str, int]:
    name = found.place.rpartition(":")[2].rpartition(".")[2]
    return (_USUAL.index(name) if name in _USUAL else len(_USUAL)), found.file, found.line


def _modules(root: Path) -> Iterator[_Module]:
    for path in own_files(root):
        inside = path.relative_to(root)
        if path.suffix != ".py" or _is_test(inside) or path.stat().st_size > LARGEST:
            continue
        try:
            tree = ast.parse(path.read_text("utf-8"))
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        parts = inside.with_suffix("").parts
        if all(part.isidentifier() for part in parts):
            name = ".".join(parts).removesuffix(".__init__")
            yield _Module(inside.as_posix(), name, tree, frozenset(_imports(tree)))


def _is_test(path: Path) -> bool:
    name = path.name
    is_named = name.startswith("test_") or (name.endswith("_test.py") and name != STUB)
    return is_named or name in {"conftest.py", "setup.py"} or "tests" in path.parts[:-1]


def _imports(tree: ast.Module) -> Iterator[str]:
    """Yield the first one and the first two parts of each imported name."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{one.name}" for one in node.names]
        for name in names:
            parts = name.split(".")
            yield from (parts[0], ".".join(parts[:2]))


def _made(modules: Sequence[_Module]) -> Iterator[NearbyAgent]:
    """Yield the objects of frameworks, and the functions without parameters that return one."""
    for module in modules:
        for adapter, (packages, calls) in _MADE_BY.items():
            if packages & module.imports:
                yield from _roots(module, adapter, calls)


def _roots(module: _Module, adapter: str, calls: frozenset[str]) -> Iterator[NearbyAgent]:
    makers = {
        node.name: node
        for node in module.tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _returns(node, calls)
    }
    objects = {
        target.id: node
        for node in module.tree.body
        if isinstance(node, ast.Assign) and _is_call_of(node.value, calls)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    named = {
        name: {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        for name, node in {**makers, **objects}.items()
    }
    key = "graph" if adapter == "langgraph" else "factory"
    for name, node in {**makers, **objects}.items():
        others = [found for other, found in named.items() if other != name]
        is_usable = isinstance(node, ast.Assign) or _takes(node) == 0 or _takes_langchains_config(node)
        if is_usable and not any(name in found for found in others) and not name.startswith("_"):
            yield NearbyAgent(adapter, key, f"{module.name}:{name}", module.file, node.lineno)


def _returns(node: ast.FunctionDef | ast.AsyncFunctionDef, calls: frozenset[str]) -> bool:
    made = {
        target.id
        for one in ast.walk(node)
        if isinstance(one, ast.Assign) and _is_call_of(one.value, calls)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    given = [one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value]
    return any(_is_call_of(one, calls) or (isinstance(one, ast.Name) and one.id in made) for one in given)


def _is_call_of(value: ast.expr, calls: Iterable[str]) -> bool:
    if not isinstance(value, ast.Call) or _last_name(value.func) not in calls:
        return False
    owner = value.func.value if isinstance(value.func, ast.Attribute) else None
    return not (isinstance(owner, ast.Name) and owner.id in {"re", "regex"})  # a pattern is compiled, too


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _takes(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return how many parameters a function needs."""
    given = node.args
    keywords = sum(default is None for default in given.kw_defaults)
    return len(given.posonlyargs) + len(given.args) - len(given.defaults) + keywords


def _takes_langchains_config(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    noted = node.args.args[0].annotation if len(node.args.args) == 1 else None
    return noted is not None and _last_name(noted) == "RunnableConfig"


def _asking(modules: Sequence[_Module]) -> Iterator[NearbyAgent]:
    """Yield the outermost functions that take what a user says and ask a model, by themselves or through others.

    If no function does, yield such methods of classes that need no arguments.
    """
    able, asking = _able(modules)
    objects = _all_objects(modules)
    candidates = [one for one in able if not one.owner] or [one for one in able if one.is_bare]
    for one in candidates:
        called = (one.owner, one.node.name)
        if not any(_hands_over(other, called, objects) for other in candidates if other is not one):
            yield _found(one, asking[called])


def _all_objects(modules: Sequence[_Module]) -> dict[str, str]:
    return {name: owner for module in modules for name, owner in _objects(module)}


def _able(modules: Sequence[_Module]) -> tuple[list[_Function], dict[tuple[str, str], str]]:
    """Return what takes the words of a user and asks a model, and the adapter of all that asks."""
    functions = [function for module in modules for function in _functions(module)]
    clients = {module.name: client for module in modules if (client := _client_of(module))}
    objects = _all_objects(modules)
    asking = {
        (one.owner, one.node.name): clients[one.module]
        for one in functions
        if one.module in clients and _asks(one)
    }
    grown = True
    while grown:
        more = {
            (f.owner, f.node.name): adapter
            for f in functions
            for called, adapter in asking.items()
            if _hands_over(f, called, objects)
        }
        grown = bool(more.keys() - asking.keys())
        asking = {**more, **asking}
    return [one for one in functions if (one.owner, one.node.name) in asking and _takes_words(one)], asking


def _found(one: _Function, adapter: str) -> NearbyAgent:
    name = f"{one.owner}.{one.node.name}" if one.owner else one.node.name
    is_async = isinstance(one.node, ast.AsyncFunctionDef)
    return NearbyAgent(adapter, "run", f"{one.module}:{name}", one.file, one.node.lineno, one.owner, is_async)


def _hands_over(function: _Function, called: tuple[str, str], objects: Mapping[str, str]) -> bool:
    """Return whether a function calls another one: of a class, if the function names the class or an object of it."""
    owner, name = called
    if name not in function.calls:
        return False
    return owner in ("", function.owner) or any(objects.get(one, one) == owner for one in function.names)


def _functions(module: _Module) -> Iterator[_Function]:
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield _function(module, node)
        elif isinstance(node, ast.ClassDef):
            is_bare = not node.name.startswith("_") and not _needs_arguments(node)
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) and not inner.decorator_list:
                    yield _function(module, inner)._replace(owner=node.name, is_bare=is_bare)


def _function(module: _Module, node: ast.FunctionDef | ast.AsyncFunctionDef) -> _Function:
    inside = list(ast.walk(node))
    calls = frozenset(_last_name(one.func) for one in inside if isinstance(one, ast.Call))
    names = frozenset(one.id for one in inside if isinstance(one, ast.Name))
    return _Function(module.file, module.name, node, calls, names)


def _objects(module: _Module) -> Iterator[tuple[str, str]]:
    """Yield the names of a module's objects, each with the name of what was called to make it."""
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            made_by = _last_name(node.value.func)
            yield from ((target.id, made_by) for target in node.targets if isinstance(target, ast.Name))


def _needs_arguments(node: ast.ClassDef) -> bool:
    """Return whether an object of a class cannot be made without arguments, as far as the class says it."""
    own = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
    if own:
        return _takes(own[0]) > 1
    is_dataclass = any("dataclass" in ast.dump(one) for one in node.decorator_list)
    return is_dataclass and any(isinstance(one, ast.AnnAssign) and one.value is None for one in node.body)


def _client_of(module: _Module) -> str:
    """Return the adapter of the package with which a module asks a model; empty if it imports none."""
    return next((adapter for package, adapter in _CLIENTS.items() if package in module.imports), "")


def _asks(function: _Function) -> bool:
    return bool(function.calls & _ASKING)


def _takes_words(function: _Function) -> bool:
    """Return whether a public function needs one argument, as far as it is annotated a text or a list of texts."""
    node, own = function.node, bool(function.owner)
    if _takes(node) != 1 + own or node.name.startswith("_"):
        return False
    given = [*node.args.posonlyargs, *node.args.args][own:]
    if not given or given[0].arg.lower() in _OTHER_INPUTS:
        return False
    noted = given[0].annotation
    if isinstance(noted, ast.Subscript) and _last_name(noted.value) in _LISTS:
        noted = noted.slice
    return noted is None or (isinstance(noted, ast.Name) and noted.id == "str")
