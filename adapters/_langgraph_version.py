"""Which LangGraph is there, and whether the adapter knows it."""

from importlib import metadata

from agentmut.adapters._sdk_version import release_of
from agentmut.errors import AdapterError

INSTALL = "pip install 'agentmut[langgraph]'"
MINIMUM = (1, 2)
_PACKAGES = ("langgraph", "langchain", "langchain-core", "langchain-openai")


def installed() -> dict[str, str]:
    """Versions of the packages that shape a run."""
    return {name: version for name in _PACKAGES if (version := _version(name))}


def require_langgraph() -> None:
    """Raise `AdapterError` unless there is a LangGraph that is new enough."""
    version = _version("langgraph")
    if version is None:
        raise AdapterError(f"adapter langgraph requires the package langgraph. Install it with: {INSTALL}")
    if release_of(version) < MINIMUM:
        raise AdapterError(f"adapter langgraph requires langgraph 1.2 or later, found {version}: {INSTALL}")


def unknown_version(missing: str) -> str:
    """What to say where LangGraph has something private elsewhere than the adapter looks for it."""
    major, minor = MINIMUM
    found = ", ".join(f"{name} {version}" for name, version in installed().items())
    return (
        f"adapter langgraph does not find {missing} in this version ({found}). It is made for langgraph "
        f"{major}.{minor} and later of {major}.x; install a version that it is tested with: {INSTALL}"
    )


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
