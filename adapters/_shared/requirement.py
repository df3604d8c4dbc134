"""Which version of a framework an adapter is made for, and what to install where it is not there."""

import re
from typing import NamedTuple

from agentmut._base import AdapterError
from agentmut.adapters._shared.sdk_version import version_of


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
        """The command that installs what fits."""
        return f"pip install 'agentmut[{self.extra}]'"

    def check(self) -> None:
        """Raise `AdapterError` unless the package is there in a version that the adapter is made for."""
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
        """The installed versions of what shapes a run."""
        packages = (self.package, *self.others)
        return {name: found for package in packages for name, found in version_of(package).items()}


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a release.

    >>> _release("3.1rc1"), _release("1.15.30.post1"), _release("4")
    ((3, 1), (1, 15, 30), (4, 0))
    """
    found = re.match(r"\d+(\.\d+){0,2}", version)
    numbers = tuple(map(int, found[0].split("."))) if found else (0,)
    return numbers if len(numbers) > 1 else (*numbers, 0)
