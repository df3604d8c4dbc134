"""agentmut: if my agent silently got worse, would my tests notice?

The core imports no agent framework and no scientific library; importing this package costs nothing,
since its public names are loaded when they are first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentmut._base import __version__
    from agentmut.nouns import AgentConfig
    from agentmut.trial import tool, toolbox
    from agentmut.usecases import (
        check_relations,
        check_suite,
        compare_with_baseline,
        gate,
        measure,
        merge_shards,
        plan,
        rescore,
        save_baseline,
        trend,
    )

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
    "check_relations": "agentmut.usecases.relations",
    "check_suite": "agentmut.usecases.suite_verdicts",
    "compare_with_baseline": "agentmut.usecases.suite_verdicts",
    "gate": "agentmut.usecases.deployment_gate",
    "measure": "agentmut.usecases.campaigns",
    "merge_shards": "agentmut.usecases.campaigns",
    "plan": "agentmut.usecases.planning",
    "rescore": "agentmut.usecases.campaigns",
    "save_baseline": "agentmut.usecases.suite_verdicts",
    "tool": "agentmut.trial.calls.instrument",
    "toolbox": "agentmut.trial.calls.toolbox",
    "trend": "agentmut.usecases.trends",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'agentmut' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
