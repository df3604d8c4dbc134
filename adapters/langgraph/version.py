"""The installed version of LangGraph."""

from agentmut.adapters._shared.sdk_version import MINIMUM, version_of

_PACKAGES = ("langgraph", "langchain", "langchain-core", "langchain-openai")


def installed() -> dict[str, str]:
    """Return versions of the packages that shape a run."""
    return {name: version for package in _PACKAGES for name, version in version_of(package).items()}


def unknown_version(missing: str) -> str:
    """Return the error message for a LangGraph whose private parts are not where the adapter expects them."""
    major, minor = MINIMUM["langgraph"]
    found = ", ".join(f"{name} {version}" for name, version in installed().items())
    return (
        f"adapter langgraph does not find {missing} in this version ({found}). It is made for langgraph "
        f"{major}.{minor} and later of {major}.x; install a version that it is tested with: "
        "pip install 'agentmut[langgraph]'"
    )
