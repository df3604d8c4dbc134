"""The oldest versions that adapters of frameworks are made for, as pip is told: `python -m tests.frameworks.lowest`."""

from collections.abc import Iterable, Iterator

from agentmut.adapters._shared.sdk_version import Requirement, version_of
from agentmut.seams.plugins import Group, load_all


def requirements() -> Iterator[Requirement]:
    """Of every adapter that has one."""
    for adapter in load_all(Group.ADAPTERS).values():
        if isinstance(found := getattr(adapter, "requirement", None), Requirement):
            yield found


def pins(found: Iterable[Requirement]) -> list[str]:
    """Of those whose package is installed here: the other environment has the others."""
    here = (one for one in found if version_of(one.package))
    return sorted({f"{one.package}=={_exactly(one.minimum)}" for one in here})


def _exactly(version: tuple[int, ...]) -> str:
    """The version, or the last patch of a minor version."""
    said = ".".join(map(str, version))
    return said if len(version) > 2 else f"{said}.*"


if __name__ == "__main__":
    print(*pins(requirements()))
