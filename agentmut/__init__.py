"""agentmut: if my agent silently got worse, would my tests notice?

The core imports no agent framework and no scientific library; importing this package costs nothing,
since its public names are loaded when they are first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentmut._base.version import __version__
    from agentmut.api import measure, merge_shards, rescore
    from agentmut.nouns.config import AgentConfig
    from agentmut.trial.calls.instrument import tool
    from agentmut.trial.calls.toolbox import toolbox
    from agentmut.verbs.assess import check_suite, compare_with_baseline, save_baseline
    from agentmut.verbs.gate import gate
    from agentmut.verbs.plan import plan
    from agentmut.verbs.relate import check_relations
    from agentmut.verbs.trend import trend

__all__ = [
    "AgentConfig",
    "__version__",
    "check_relations",
    "check_suite",
    "compare_with_baseline",
    "gate",
    "measure",
    "merge_shards",
    "plan",
    "rescore",
    "save_baseline",
    "tool",
    "toolbox",
    "trend",
]


_HOMES = {
    "__version__": "agentmut._base.version",
    "AgentConfig": "agentmut.nouns.config",
    "check_relations": "agentmut.verbs.relate",
    "check_suite": "agentmut.verbs.assess",
    "compare_with_baseline": "agentmut.verbs.assess",
    "gate": "agentmut.verbs.gate",
    "measure": "agentmut.api",
    "merge_shards": "agentmut.api",
    "plan": "agentmut.verbs.plan",
    "rescore": "agentmut.api",
    "save_baseline": "agentmut.verbs.assess",
    "tool": "agentmut.trial.calls.instrument",
    "toolbox": "agentmut.trial.calls.toolbox",
    "trend": "agentmut.verbs.trend",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'agentmut' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
