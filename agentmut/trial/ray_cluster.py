"""Trials on the nodes of a Ray cluster. The process that decides stays where it is, and alone writes the store."""

import asyncio
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, NamedTuple

from agentmut._base import RunError, UnavailableError, __version__, described
from agentmut.nouns import Ending, Execution, Footprint
from agentmut.trial.containment import make_task
from agentmut.trial.executor import Executor, TrialRequest

MARGIN = 10.0
"""Seconds past its own timeout that an actor has to answer before it is replaced."""
STARTING = 300.0
"""Seconds until an actor has its resources and has imported the agent."""
ANSWERING = 10.0
"""Seconds until a cluster's address takes a connection."""
LEFT_AT_HOME = (".agentmut", ".git", ".venv", "__pycache__")
"""Folders of a project that no node needs."""


class RaySettings(NamedTuple):
    """Which cluster, and what an actor takes of it."""

    address: str
    folder: str
    """The project's folder; a copy of it is where an actor imports the agent from."""
    actors: int
    slots: int
    """Trials that an actor runs at the same time."""
    cpus: float = 0.0
    """Processors that a trial asks for."""
    gpu: float = 0.0
    """Graphics processors that a trial asks for; parts of one are allowed."""
    memory: int | None = None
    """Bytes that a trial asks for."""


class RayExecutor:
    """Runs trials in actors. Where a node or an actor is lost, its trials say nothing and are tried again elsewhere.

    `make` builds the executor within an actor, in a copy of the project's folder; it must be picklable. `environment`
    goes to the actors as an argument: what a runtime environment holds would be shown by the dashboard.
    """

    def __init__(
        self,
        make: Callable[[], Executor],
        environment: Mapping[str, str],
        settings: RaySettings,
        deadline: float,
    ) -> None:
        self._make = make
        self._environment = dict(environment)
        self._settings = settings
        self._deadline = deadline + MARGIN
        self._free: asyncio.Queue[_Place] = asyncio.Queue()

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Connect to the cluster; actors end with the block."""
        ray = _ray()
        ours = not ray.is_initialized()
        if ours:
            _connect(ray, self._settings)
        places = [_Place(ray, self._actor(ray), self._deadline) for _ in range(self._settings.actors)]
        self._free = asyncio.Queue()
        for _ in range(self._settings.slots):
            for place in places:
                self._free.put_nowait(place)
        try:
            yield
        finally:
            for place in places:
                place.end()
            if ours:
                ray.shutdown()

    async def execute(self, request: TrialRequest) -> Execution:
        """Run one trial in the actor that has been free for the longest time."""
        place = await self._free.get()
        try:
            return await place.run(request)
        finally:
            self._free.put_nowait(place)

    def _actor(self, ray: Any) -> Callable[[], Any]:
        wanted = self._settings
        options = {
            "num_cpus": wanted.cpus * wanted.slots,
            "num_gpus": wanted.gpu * wanted.slots,
            "memory": wanted.memory and wanted.memory * wanted.slots,
            "max_concurrency": wanted.slots + 1,
            "scheduling_strategy": "SPREAD",
        }
        remote = ray.remote(TrialActor).options(**options)
        return lambda: remote.remote(self._make, self._environment)


class TrialActor:
    """One process on a node. It imports the agent once, and runs several trials at the same time."""

    def __init__(self, make: Callable[[], Executor], environment: Mapping[str, str]) -> None:
        os.environ.update(environment)
        self._make = make
        self._stack = AsyncExitStack()
        self._executor: Executor | None = None

    async def start(self) -> str:
        """Import the agent; return the version of agentmut on this node."""
        asyncio.get_running_loop().set_task_factory(make_task)
        self._executor = await asyncio.to_thread(self._make)
        await self._stack.enter_async_context(self._executor.session())
        return __version__

    async def execute(self, request: TrialRequest) -> Execution:
        """Run one trial."""
        assert self._executor is not None
        return await self._executor.execute(request)


class _Place:
    """An actor, and another one in its place when it is lost."""

    def __init__(self, ray: Any, make: Callable[[], Any], deadline: float) -> None:
        self._ray = ray
        self._make = make
        self._deadline = deadline
        self._actor: Any = None
        self._ready: asyncio.Task[None] | None = None

    async def run(self, request: TrialRequest) -> Execution:
        """Run one trial."""
        if self._actor is None:
            self._actor = self._make()
            self._ready = asyncio.create_task(_started(self._ray, self._actor))
        actor, ready = self._actor, self._ready
        assert ready is not None
        try:
            await asyncio.shield(ready)
            return await asyncio.wait_for(_answer(actor.execute.remote(request)), self._deadline)
        except TimeoutError:
            self._replace(actor)
            return _lost(Ending.TIMEOUT, f"its actor was ended: no answer within {self._deadline:g} s")
        except self._ray.exceptions.RayTaskError as error:
            raise RunError(f"a node could not run a trial: {described(error.cause or error)}") from None
        except self._ray.exceptions.RayError as error:
            self._replace(actor)
            return _lost(Ending.INFRASTRUCTURE, f"its node or its actor was lost ({type(error).__name__})")

    def end(self) -> None:
        """End the actor."""
        if self._ready is not None:
            self._ready.cancel()
        if self._actor is not None:
            with suppress(Exception):
                self._ray.kill(self._actor)
        self._actor = None

    def _replace(self, lost: Any) -> None:
        """Let the next trial start another actor, unless another trial of the lost one has done so."""
        if self._actor is lost:
            self.end()


async def _started(ray: Any, actor: Any) -> None:
    try:
        version = await asyncio.wait_for(_answer(actor.start.remote()), STARTING)
    except TimeoutError:
        raise RunError(
            f"no node of the Ray cluster had an actor ready within {STARTING:g} s. Give it nodes with the CPUs, GPUs "
            "and memory that execution asks for, or ask for less."
        ) from None
    except ray.exceptions.RayTaskError as error:
        raise RunError(f"a node could not import the agent: {described(error.cause or error)}") from None
    if version != __version__:
        raise RunError(
            f"a node has agentmut {version}, and this process {__version__}: install the same version on all nodes."
        )


async def _answer(reference: Any) -> Any:
    return await reference


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise UnavailableError("engine: ray needs Ray. Install with: pip install 'agentmut[ray]'") from None
    import ray.exceptions

    return ray


def _connect(ray: Any, settings: RaySettings) -> None:
    excluded = [f"/{name}" for name in LEFT_AT_HOME]
    environment = {"working_dir": settings.folder, "excludes": excluded}
    address = settings.address if settings.address != "auto" else os.environ.get("RAY_ADDRESS", "auto")
    at_sigterm = signal.getsignal(signal.SIGTERM)  # Ray sets its own, which ends the process at once
    try:
        _knock(address)
        ray.init(address=address, runtime_env=environment, log_to_driver=False, configure_logging=False)
    except (OSError, RuntimeError, ValueError) as error:
        raise RunError(
            f"there is no Ray cluster at address {address!r}: {described(error)}. Start one with `ray start --head`, "
            "or leave `execution.engine` out to run on this machine."
        ) from None
    finally:
        if at_sigterm is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, at_sigterm)


def _knock(address: str) -> None:
    """Raise `OSError` where no program listens at the address: Ray itself tries for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWERING).close()


def _lost(ending: Ending, reason: str) -> Execution:
    return Execution(ending=ending, reason=reason, footprint=Footprint(lost=True))
