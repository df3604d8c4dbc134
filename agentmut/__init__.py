"""agentmut: if my agent silently got worse, would my tests notice?

The core imports no agent framework and no scientific library; importing this package costs nothing,
since its public names are loaded when they are first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentmut.api import measure, merge_shards, rescore
    from agentmut.assess import check_suite, compare_with_baseline, save_baseline
    from agentmut.calls.instrument import tool
    from agentmut.calls.toolbox import toolbox
    from agentmut.config import AgentConfig
    from agentmut.relate import check_relations

    __version__: str

__all__ = [
    "AgentConfig",
    "__version__",
    "check_relations",
    "check_suite",
    "compare_with_baseline",
    "measure",
    "merge_shards",
    "rescore",
    "save_baseline",
    "tool",
    "toolbox",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name == "AgentConfig":
        from agentmut.config import AgentConfig

        return AgentConfig
    if name in ("check_suite", "compare_with_baseline", "save_baseline"):
        from agentmut import assess

        return getattr(assess, name)
    if name == "check_relations":
        from agentmut.relate import check_relations

        return check_relations
    if name in ("measure", "merge_shards", "rescore"):
        from agentmut import api

        return getattr(api, name)
    if name == "tool":
        from agentmut.calls.instrument import tool

        return tool
    if name == "toolbox":
        from agentmut.calls.toolbox import toolbox

        return toolbox
    raise AttributeError(f"module 'agentmut' has no attribute {name!r}")


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("agentmut")
    except PackageNotFoundError:  # an uninstalled checkout on sys.path
        return "0+uninstalled"
