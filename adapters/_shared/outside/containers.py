"""`agent.options.container`: each trial runs a program in its own container, by Docker's or Podman's command line."""

import asyncio
import hashlib
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple
from uuid import uuid4

from pydantic import ConfigDict, Field, ValidationError

from agentmut._base import Frozen, UsageError, first_fault
from agentmut.recording import in_daemon_thread

CONTAINER = "container"
"""The key of `agent.options`."""
WORK, SCRATCH, PROJECT = "/work", "/agentmut", "/project"
"""Folders in the container: where the program runs, its input and answer, and the project for `{project}`."""
ENGINES = ("docker", "podman")
_ENGINE_FAILED, _NOT_INVOKED = 125, (126, 127)
"""Exit codes of `docker run` and `podman run`: the engine failed; the command could not be started in the image."""
LABEL = "agentmut"
ANSWER_SECONDS = 20.0
"""Seconds in which an engine must answer a short question."""
PREPARE_SECONDS = 1800.0
"""Seconds in which an image must be built or pulled."""
REMOVE_SECONDS = 0.4
"""Seconds that an ended trial waits for the removal of its container; the removal goes on afterwards."""
_WHERE = f"agent.options.{CONTAINER}"


class ContainerOptions(Frozen):
    """The container options of the project file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    image: str = Field(default="", pattern=r"^([^-\s]\S*)?$")
    """The image's name, for an image that is there or can be pulled."""
    build: str = ""
    """A folder of the project with a Dockerfile (or Containerfile, for Podman)."""
    engine: Literal["auto", "docker", "podman"] = "auto"
    cpus: float = Field(default=1.0, gt=0)
    """Processors that one container may use."""
    memory: str = Field(default="1g", pattern=r"^[1-9][0-9]*[bkmg]?$")
    """Memory of one container, as in `512m`."""
    network: Literal["host", "none"] = "host"
    """`host` lets the program reach the proxy of agentmut on loopback; `none` gives it no network."""
    env: tuple[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], ...] = ()
    """Names of further environment variables that the program gets, such as `OPENAI_API_KEY`."""


class Mount(NamedTuple):
    """A folder of this machine, and its path in the container."""

    source: Path
    target: str
    read_only: bool = False


@dataclass(frozen=True)
class Container:
    """A working engine, an available image, and limits."""

    engine: str
    image: str
    cpus: float
    memory: str
    network: str
    env: tuple[str, ...] = ()


def options_of(value: Any) -> ContainerOptions:
    """Return the settings. Raises `UsageError` that names the wrong key."""
    if not isinstance(value, dict):
        raise UsageError(f"{_WHERE} is a mapping, as in `container: {{image: my-agent}}`, not {value!r}")
    try:
        options = ContainerOptions.model_validate(value)
    except ValidationError as error:
        fault = first_fault(error)
        raise UsageError(f"{fault.with_value(_WHERE)}") from None
    if bool(options.image) == bool(options.build):
        raise UsageError(f"{_WHERE}: give either `image` or `build`")
    return options


def prepared(value: Any, root: Path) -> Container:
    """Return a container after a check of its engine; its image is built or pulled if needed.

    Remove containers that killed processes of this machine have left. Raises `UsageError` where there is no engine,
    no folder to build, or no image.
    """
    options = options_of(value)
    folder = root / options.build
    if options.build and not folder.is_dir():
        raise UsageError(f"{_WHERE}.build: there is no folder {options.build!r} in {root}")
    engine = _engine(options.engine)
    _remove_left(engine)
    image = options.image or f"agentmut-build:{folder_digest(folder)}"
    if _engine_output(engine, "image", "inspect", image).returncode:
        words = ("build", "-t", image, str(folder)) if options.build else ("pull", image)
        done = _engine_output(engine, *words, seconds=PREPARE_SECONDS)
        if done.returncode:
            raise UsageError(f"{_WHERE}: `{engine} {words[0]}` failed: {_last_line(done)}")
    return Container(engine, image, options.cpus, options.memory, options.network, options.env)


def run_arguments(
    container: Container,
    name: str,
    command: Iterable[str],
    mounts: Iterable[Mount],
    variables: Iterable[str],
    *,
    node: str,
    user: str = "",
    reads_stdin: bool = False,
) -> tuple[str, ...]:
    """Return the engine's command line for one trial.

    Variables are passed by name: the engine takes the values from its own environment, so no secret is seen in a list
    of processes. The command replaces the image's entry point.
    """
    program, *rest = command
    words = [container.engine, "run", "--rm", "--init", "--name", name, "--label", f"{LABEL}={node}"]
    words += ["--pull", "never", "--cpus", f"{container.cpus:g}", "--memory", container.memory]
    words += ["--network", container.network, "-w", WORK]
    words += ["-i"] if reads_stdin else []
    words += ["--user", user] if user else []
    for mount in mounts:
        words += ["-v", f"{mount.source}:{mount.target}{':ro' if mount.read_only else ''}"]
    for variable in sorted(variables):
        words += ["-e", variable]
    return (*words, "--entrypoint", program, container.image, *rest)


def new_name() -> str:
    """Return a container name that contains the owning process."""
    return f"agentmut-{os.getpid()}-{uuid4().hex[:12]}"


def node_name() -> str:
    """Return this machine's name in a form that a label can hold."""
    return re.sub(r"[^A-Za-z0-9_.-]", "-", platform.node()) or "local"


def user_of(engine: str) -> str:
    """Return the user that owns the files of a mounted folder; empty if the engine maps users itself."""
    if engine != "docker" or not hasattr(os, "getuid") or not os.getuid():
        return ""
    return f"{os.getuid()}:{os.getgid()}"


def engine_failed(engine: str, code: int | None, stderr: bytes | bytearray) -> bool:
    """Return whether the engine, not the program, ended with this code.

    A program may end with 126 or 127 by itself, so these count only where the engine's own words begin stderr.
    """
    own = b"docker: " if engine == "docker" else b"Error: "
    return code == _ENGINE_FAILED or (code in _NOT_INVOKED and stderr.startswith(own))


def left_behind(names: Iterable[str], alive: Mapping[int, bool]) -> tuple[str, ...]:
    """Return the containers whose owner is dead; containers with other names stay untouched."""
    owned = ((name, re.fullmatch(r"agentmut-(\d+)-[0-9a-f]{12}", name)) for name in names)
    return tuple(name for name, match in owned if match and not alive.get(int(match[1]), True))


def folder_digest(folder: Path) -> str:
    """Return a digest of all files in a folder: their paths, modes and contents."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        held = path.read_bytes()
        head = f"{path.relative_to(folder).as_posix()}\0{path.stat().st_mode & 0o777}\0{len(held)}\0"
        digest.update(head.encode("utf-8", "surrogateescape") + held)
    return digest.hexdigest()[:16]


async def remove(engine: str, name: str) -> None:
    """Remove a container that may still run. The removal outlives this process."""
    with suppress(OSError):
        removal = subprocess.Popen(
            _removal(engine, name), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        with suppress(TimeoutError):
            await asyncio.wait_for(in_daemon_thread(removal.wait), REMOVE_SECONDS)


def _engine(wanted: str) -> str:
    """Return the first engine that answers."""
    causes = []
    for engine in ENGINES if wanted == "auto" else (wanted,):
        if not shutil.which(engine):
            causes.append(f"{engine} is not installed")
            continue
        done = _engine_output(engine, "info")
        if not done.returncode:
            return engine
        causes.append(f"{engine} does not answer ({_last_line(done)})")
    raise UsageError(
        f"{_WHERE}: no container engine can be used here: {'; '.join(causes)}. Install or start Docker or Podman, "
        "or remove `container` to run the program without one"
    )


def _remove_left(engine: str) -> None:
    asked = ("ps", "-a", "--filter", f"label={LABEL}={node_name()}", "--format", "{{.Names}}")
    names = _engine_output(engine, *asked).stdout.decode("utf-8", "replace").split()
    owners = {int(part) for name in names for part in name.split("-")[1:2] if part.isdecimal()}
    if left := left_behind(names, {owner: _is_alive(owner) for owner in owners}):
        _engine_output(*_removal(engine, *left))


def _removal(engine: str, *names: str) -> tuple[str, ...]:
    """Return the command that removes containers at once; Podman would wait ten seconds for each."""
    return (engine, "rm", "-f", *(("-t", "0") if engine == "podman" else ()), *names)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _engine_output(
    engine: str, *words: str, seconds: float = ANSWER_SECONDS
) -> "subprocess.CompletedProcess[bytes]":
    try:
        return subprocess.run(
            (engine, *words), capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess((engine, *words), 1, b"", f"no answer in {seconds:g} s".encode())


def _last_line(done: "subprocess.CompletedProcess[bytes]") -> str:
    lines = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip() if lines else f"exit code {done.returncode}"
