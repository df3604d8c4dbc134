"""What an agent does instead of a model request that agentmut can read: connections, programs, processes."""

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from agentmut.recording import current_trial

READ = ("httpx", "httpx2", "requests", "aiohttp", "botocore")
"""Clients whose requests are read in this process."""
UNWATCHED = ("pycurl", "grpc", "curl_cffi")
"""Modules that connect without the sockets of Python, which alone raise audit events."""
_BENEATH = frozenset({"agentmut", "asyncio", "concurrent", "threading", "anyio"})
"""Modules that run an agent's code: what stands under them on the stack is no part of the agent."""
_SOCKETS = frozenset({"socket", "ssl", "selectors"})
Deeds = dict[str, None]
"""What a run did, in phrases such as `connected to 127.0.0.1:80 by urllib`, in order, each once."""


@contextmanager
def watched() -> Iterator[Callable[[], tuple[str, ...]]]:
    """Yield what tells the connections, programs and processes that trials of this process began during the block.

    An audit hook cannot be removed: this one does nothing after the block. For short commands only.
    """
    deeds: Deeds = {}
    watching = True

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if (
            watching
            and (tell := _TOLD.get(event))
            and current_trial() is not None
            and (said := tell(arguments))
        ):
            deeds[said] = None

    sys.addaudithook(hook)
    try:
        yield lambda: tuple(deeds)
    finally:
        watching = False


def _connected(arguments: Sequence[Any]) -> str:
    address = arguments[1]
    where = f"{address[0]}:{address[1]}" if isinstance(address, tuple) else f"the socket {address}"
    client = _client(sys._getframe(2))
    return f"connected to {where}{f' by {client}' if client else ''}"


def _client(frame: FrameType | None) -> str:
    """Return the client that connects: one that agentmut reads, or else the outermost package on the stack."""
    packages: Deeds = {}
    while frame is not None:
        name = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if name in _BENEATH or not _installed(frame):
            break
        packages.pop(name, None)  # a package may stand on the stack several times: the outermost counts
        packages[name] = None
        frame = frame.f_back
    known = [name for name in packages if name in READ]
    others = [name for name in packages if name not in _SOCKETS]
    client = (known or others[-1:] or ["a plain socket"])[0]
    return "http.client" if client == "http" else client


def _installed(frame: FrameType) -> bool:
    """Return whether this code is of Python itself or of an installed package, and not the agent's."""
    file = frame.f_code.co_filename
    return file.startswith(("<frozen", sys.base_prefix, sys.prefix)) or "site-packages" in file


def _started(arguments: Sequence[Any]) -> str:
    program = arguments[0] or (arguments[1][0] if arguments[1] else "")
    return f"started the program {str(program).rpartition('/')[2]}"


def _forked(_: Sequence[Any]) -> str:
    return "forked a process"


_TOLD: dict[str, Callable[[Sequence[Any]], str]] = {
    "socket.connect": _connected,
    "subprocess.Popen": _started,
    "os.posix_spawn": _started,
    "os.fork": _forked,
}


def unseen(deeds: Sequence[str], modules: Sequence[str], program: str) -> str:
    """Return what a run did that sent no readable model request, and the one line that helps.

    `modules`: those of `UNWATCHED` that the agent has loaded. `program`: the agent in the project file as a program.

    >>> unseen(["forked a process"], [], "agent: {}")
    'it forked a process, and agentmut does not read such requests in this process. This helps: `agent: {}`'
    """
    if any(deed.startswith("connected to the socket ") and not _by_read(deed) for deed in deeds):
        did, helps = ": no proxy stands at a socket file", _OF_SOCKET_FILES
    elif deeds and all(map(_by_read, deeds)):
        did = ", and none of these requests was in a dialect that agentmut reads (docs/wire.md)"
        helps = _OF_DIALECTS
    else:
        grpc_alone = not deeds and "grpc" in modules
        did, helps = "", _OF_GRPC if grpc_alone else f"`{program}`"
        if deeds or modules:
            did = ", and agentmut does not read such requests in this process"
    return f"it {_listed(deeds) or _nothing(modules)}{did}. This helps: {helps}"


_OF_SOCKET_FILES = "`httpx.HTTPTransport(uds=...)` as the client of the agent"
_OF_DIALECTS = "a codec of your own (entry point `agentmut.codecs`), or `agent.run` with (config, input)"
_OF_GRPC = "`agent.run` with (config, input), and `agent: {route: rebuild}`"


def _nothing(modules: Sequence[str]) -> str:
    nothing = "opened no connection by Python's sockets"
    if modules:
        return f"{nothing}, and has {_listed(modules)} loaded"
    return (
        f"{nothing} and started no program: it answered without a model, from a cache, or by a connection from before "
        "the run. An agent with a cache has to run without it"
    )


def as_program(function: str) -> str:
    """Return the part of a project file that runs a function of the input as a program of its own.

    >>> as_program("bot:run")
    'agent: {adapter: command, command: [python3, -c, "import sys, bot; print(bot.run(sys.argv[1]))", "{input}"]}'
    >>> as_program("")
    'agent: {adapter: command, command: [python3, my_agent.py, "{input}"]}'
    """
    module, _, name = function.partition(":")
    found = getattr(sys.modules.get(module), name, None)
    call = f"{module}.{name}(sys.argv[1])"
    if inspect.iscoroutinefunction(found):
        call, module = f"asyncio.run({call})", f"asyncio, {module}"
    code = f'-c, "import sys, {module}; print({call})"' if name else "my_agent.py"
    return f'agent: {{adapter: command, command: [python3, {code}, "{{input}}"]}}'


def _by_read(deed: str) -> bool:
    return deed.rpartition(" by ")[2] in READ


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def loaded() -> tuple[str, ...]:
    """Return the clients of `UNWATCHED` that this process has loaded."""
    return tuple(name for name in UNWATCHED if name in sys.modules)
