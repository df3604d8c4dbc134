"""What identifies a trial: its id for seeded services, and the key under which it may be reused."""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field

from agentmut._base import ENDPOINT_VARIABLES, SIMULATOR_VARIABLE, Frozen, __version__, digest_of
from agentmut.campaign.preparation.program_files import program_files
from agentmut.recording import CREDENTIAL
from agentmut.seams import AgentSpec

RECORD_FORMAT = 4
"""Raised whenever marks, footprints, endings or keys of trials mean something else than before, so that stored ones are
not taken for today's."""
KEYS_IN_ORDER = 4
"""The first record format in which the key of a trial ends with its repeat."""
SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "build", "dist", "site-packages"})


class Environment(Frozen):
    """Everything that shapes a trial except config and scenario. A change makes stored trials stale."""

    agentmut: str
    record: int = 1
    """The `RECORD_FORMAT` that trials are kept in; 1 in plans from before it was written down."""
    adapter: str
    entry: str = ""
    """The function that is called or builds the agent, the command or the URL, as the project file names it."""
    versions: dict[str, str]
    endpoints: dict[str, str]
    variables: dict[str, str] = Field(default_factory=dict)
    """Digests of the variables that the project file sets, but for credentials: a new key is no new agent."""
    code: str
    """Hash of the project's source files, or the declared `agent.version`."""
    timeout: float = 60.0
    """Seconds: what is cut off, and so how often the agent fails, depends on it."""

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of the content."""
        return digest_of(self.model_dump(mode="json"))


def endpoints(variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the model services that the environment variables point at. Credentials in URLs are left out."""
    simulator = variables.get(SIMULATOR_VARIABLE)
    return {
        name: simulator if simulator and is_loopback(variables[name]) else _endpoint(variables[name])
        for name in ENDPOINT_VARIABLES
        if variables.get(name)
    }


def is_simulated(environment: Environment) -> bool:
    """Return whether every model service of a run was the simulator, which `endpoints` names without an address."""
    return bool(environment.endpoints) and all("://" not in name for name in environment.endpoints.values())


def is_loopback(url: str) -> bool:
    """Return whether a URL points at this machine."""
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def environment(
    spec: AgentSpec, versions: Mapping[str, str], code: str, timeout: float, declared: Mapping[str, str]
) -> Environment:
    """Return the environment of a run that starts now."""
    return Environment(
        agentmut=__version__,
        record=RECORD_FORMAT,
        adapter=spec.adapter,
        entry=_entry(spec),
        versions=dict(versions),
        endpoints=endpoints(),
        variables={n: digest_of(value) for n, value in declared.items() if not CREDENTIAL.search(n)},
        code=code,
        timeout=timeout,
    )


def code_digest(root: Path, besides: Iterable[Path] = (), spec: AgentSpec | None = None) -> str:
    """Hash the paths and contents of all Python files under `root`, except those in `besides`, with SHA-256.

    Of an agent that is a program or a service, of all source files, whatever their language, and of the files that
    its command names. Hidden folders, virtual environments, installed libraries and build outputs are left out.
    """
    excluded = {path.resolve() for path in besides}
    total = hashlib.sha256()
    others = program_files(spec, root, _own_files(root)) if spec else ()
    for path in sorted({*python_files(root), *others}):
        if path.resolve() not in excluded:
            total.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def unused_elsewhere(root: Path, modules: Mapping[str, Path]) -> tuple[Path, ...]:
    """Return the `modules` (file by dotted name) that no other Python file under `root` mentions."""
    texts = {path: path.read_text("utf-8", "replace") for path in python_files(root)} if modules else {}

    def mentioned(name: str, own: Path) -> bool:
        word = re.compile(rf"\b{re.escape(name.rpartition('.')[2])}\b")
        return any(word.search(text) for path, text in texts.items() if path.resolve() != own.resolve())

    return tuple(path for name, path in modules.items() if not mentioned(name, path))


def trial_id(seed: int, mutant: str, scenario: str, repeat: int) -> str:
    """Return the 16 hex digits that name a trial to a seeded service; every run of the same plan has the same ones."""
    return digest_of([seed, mutant, scenario, repeat])[:16]


def trial_key(env: Environment, seed: int, *, config: str, mutant: str, scenario: str, repeat: int) -> str:
    """Return the key of a stored trial: it is reused only if nothing that shaped it has changed.

    `config` and `scenario` are digests.
    """
    return keys_of_repeats(env, seed, config=config, mutant=mutant, scenario=scenario)(repeat)


def keys_of_repeats(
    env: Environment, seed: int, *, config: str, mutant: str, scenario: str
) -> Callable[[int], str]:
    """Return the function from a repeat to the key of that trial; see `trial_key`.

    Keys of neighbours begin alike, so they stand side by side in the store's index. With keys in random order, each
    transaction of a large store wrote another page of the index for each of its trials.
    """
    if env.record < KEYS_IN_ORDER:  # the plan of an earlier version, which goes on with its own trials
        return lambda repeat: digest_of([env.digest, config, mutant, scenario, repeat, seed])
    series = digest_of([env.digest, config, mutant, scenario, seed])[:48]
    return lambda repeat: f"{series}{repeat:016x}"


def _entry(spec: AgentSpec) -> str:
    """Describe the agent's entry point and its settings. The settings are hashed, since they may be private."""
    name = spec.factory or spec.run or ""
    unlike = {"adapter", "factory", "run", "headers", "proxy_port", "root"}
    settings = spec.model_dump(mode="json", exclude=unlike, exclude_defaults=True)
    if spec.headers:
        settings["headers"] = sorted(spec.headers)
    return f"{name} {digest_of(settings)}".strip() if settings else name


def python_files(root: Path) -> Iterable[Path]:
    """Return the project's own Python files, without hidden folders and folders of other tools."""
    return (path for path in _own_files(root) if path.suffix == ".py")


def _own_files(root: Path) -> Iterable[Path]:
    """Yield the project's files, without hidden folders and folders of other tools."""
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        folders[:] = [f for f in folders if not _is_foreign(here / f)]
        # no dangling links, as editors leave them
        yield from (path for path in map(here.joinpath, files) if path.is_file())


def _is_foreign(folder: Path) -> bool:
    name = folder.name
    return name.startswith(".") or name in SKIPPED_FOLDERS or (folder / "pyvenv.cfg").exists()


def _endpoint(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
