"""Trials on the nodes of a Ray cluster. The deciding process stays here, and alone writes the store."""

import asyncio
import itertools
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from agentmut._base import RunError, UnavailableError, described
from agentmut.nouns import Ending, Execution, Footprint
from agentmut.trial.executor import Executor, TrialRequest
from agentmut.trial.ray_actor import CALLS, TrialActor
from agentmut.trial.ray_line import ActorLine, EndedError

MARGIN = 10.0
"""Seconds past its own timeout that an actor has to answer before it is replaced."""
ANSWERING = 10.0
"""Seconds until a cluster's address takes a connection."""
LEAST_MEMORY = 1
"""Bytes that an actor demands whose trials demand nothing: Ray puts an actor without any demand on a random node,
whatever its scheduling strategy says."""
LEFT_AT_HOME = (".agentmut", ".git", ".venv", "__pycache__")
"""Folders of a project that no node needs."""


class RaySettings(NamedTuple):
    """The cluster, and the resources that an actor takes."""

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
    """Runs trials in actors. If a node or an actor is lost, its trials are no evidence and run again elsewhere.

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
        make = self._actor(ray)  # one for all places: the nodes take turns
        places = [_Place(ray, make, self._deadline) for _ in range(self._settings.actors)]
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
            "memory": wanted.memory * wanted.slots if wanted.memory else LEAST_MEMORY,
            "max_concurrency": CALLS,
        }
        remote = ray.remote(TrialActor)
        asks = bool(wanted.cpus or wanted.gpu or wanted.memory)
        turns = itertools.count()

        def made() -> Any:
            strategy = "SPREAD" if asks else _node_in_turn(ray, next(turns))
            return remote.options(**options, scheduling_strategy=strategy).remote(
                self._make, self._environment
            )

        return made


class _Place:
    """A place for an actor, which gets a new actor when its actor is lost."""

    def __init__(self, ray: Any, make: Callable[[], Any], deadline: float) -> None:
        self._ray = ray
        self._make = make
        self._deadline = deadline
        self._line: ActorLine | None = None

    async def run(self, request: TrialRequest) -> Execution:
        """Run one trial."""
        line = self._line = self._line or ActorLine(self._ray, self._make())
        try:
            await asyncio.shield(line.ready)
            return await asyncio.wait_for(line.execute(request), self._deadline)
        except TimeoutError:
            self._replace(line)
            return _lost(Ending.TIMEOUT, f"its actor was ended: no answer within {self._deadline:g} s")
        except self._ray.exceptions.RayTaskError as error:
            raise RunError(f"a node could not run a trial: {described(error.cause or error)}") from None
        except (self._ray.exceptions.RayError, EndedError) as error:
            self._replace(line)
            return _lost(Ending.INFRASTRUCTURE, f"its node or its actor was lost ({type(error).__name__})")

    def end(self) -> None:
        """End the actor."""
        if self._line is not None:
            self._line.end()
        self._line = None

    def _replace(self, lost: ActorLine) -> None:
        """Let the next trial start another actor, unless another trial of the lost actor has done so."""
        if self._line is lost:
            self.end()


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise UnavailableError("engine: ray needs Ray. Install with: pip install 'agentmut[ray]'") from None
    import ray.exceptions

    return ray


def _node_in_turn(ray: Any, turn: int) -> Any:
    """Return the node for an actor whose trials demand nothing: the nodes take turns.

    Ray's own SPREAD packs such small demands on one node. A node that dies meanwhile ends the actor, and the next one
    gets the next node. Nodes without CPUs, such as the head of a cluster whose workers run the trials, get none.
    """
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    alive = [node for node in ray.nodes() if node["Alive"]]
    working = sorted(node["NodeID"] for node in alive if node["Resources"].get("CPU"))
    if not working:
        return "SPREAD"
    return NodeAffinitySchedulingStrategy(working[turn % len(working)], soft=False)


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
