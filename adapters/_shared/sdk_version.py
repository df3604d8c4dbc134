"""The installed SDKs of services and frameworks, and the versions that adapters need."""

import re
from importlib import metadata
from typing import Any, NamedTuple

from agentmut._base import AdapterError

MINIMUM = {"openai": (3, 0), "anthropic": (2, 0), "langgraph": (1, 2)}
"""The oldest versions that the adapters are tested with; those of the extras in pyproject.toml."""


def version_of(package: str) -> dict[str, str]:
    """Return the version of an SDK under its name; empty if it is not installed."""
    try:
        return {package: metadata.version(package)}
    except metadata.PackageNotFoundError:
        return {}


def named_version(package: str) -> str:
    """Return a package with its version, for errors about a change of behaviour in that version."""
    return f"{package} {version_of(package).get(package, 'of an unknown version')}"


def require_sdk(package: str) -> None:
    """Raise `AdapterError` unless a package (an SDK or a framework) is installed and recent enough."""
    install = f"pip install 'agentmut[{package}]'"
    version = version_of(package).get(package)
    if version is None:
        raise AdapterError(f"adapter {package} requires the package {package}. Install it with: {install}")
    major, minor = MINIMUM[package]
    if _release(version) < (major, minor):
        raise AdapterError(
            f"adapter {package} requires {package} {major}.{minor} or later{_loop(package)}, found {version}: {install}"
        )


def _loop(package: str) -> str:
    """Return what alone needs a recent SDK; frameworks are needed as a whole."""
    return (
        "" if package == "langgraph" else " for its tool loop (a function in agent.run may use any version)"
    )


DEPLOYMENT = "the deployment in an Azure client's address chooses the model, not its name"
OTHERWISE = "a function that takes the config can build the agent with another deployment"


def cannot_rename(client: Any) -> str:
    """Return why a client of the package openai uses one model for every name; empty if it does not.

    >>> cannot_rename(None)
    ''
    """
    path = getattr(getattr(client, "base_url", None), "path", "")
    return f"{DEPLOYMENT}; {OTHERWISE}" if "/deployments/" in str(path) else ""


class Requirement(NamedTuple):
    """A package that an adapter needs. Versions are (major, minor), or with the patch, too."""

    adapter: str
    package: str
    """As it is installed by pip."""
    minimum: tuple[int, ...]
    """The oldest version that the adapter is tested with; the lower bound of the extra in pyproject.toml."""
    below: tuple[int, ...]
    """The first version that it is not made for; the upper bound of the extra."""
    extra: str
    others: tuple[str, ...] = ()
    """Further packages that shape a run."""

    @property
    def install(self) -> str:
        """Return the command that installs what fits."""
        return f"pip install 'agentmut[{self.extra}]'"

    def check(self) -> None:
        """Raise `AdapterError` unless the package is installed in a version that the adapter supports."""
        version = version_of(self.package).get(self.package)
        if version is None:
            raise AdapterError(
                f"adapter {self.adapter} requires the package {self.package}. Install it with: {self.install}"
            )
        if not self.minimum <= _release(version) < self.below:
            raise AdapterError(
                f"adapter {self.adapter} is made for {self.package} {_dotted(self.minimum)} and later, below "
                f"{_dotted(self.below)}; found {version}. Install one that fits with: {self.install}; or let mutants "
                "reach the agent through its model requests, whatever its framework (adapter python with agent.run, "
                "or adapter command)"
            )

    def versions(self) -> dict[str, str]:
        """Return the installed versions of what shapes a run."""
        packages = (self.package, *self.others)
        return {name: found for package in packages for name, found in version_of(package).items()}


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _release(version: str) -> tuple[int, ...]:
    """Return the numbers of a release.

    >>> _release("3.1rc1"), _release("1.15.30.post1"), _release("4")
    ((3, 1), (1, 15, 30), (4, 0))
    """
    found = re.match(r"\d+(\.\d+){0,2}", version)
    numbers = tuple(map(int, found[0].split("."))) if found else (0,)
    return numbers if len(numbers) > 1 else (*numbers, 0)
