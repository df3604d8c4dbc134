"""What `check_importer` looks at."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from agentmut._base import UsageError, one_line
from agentmut.nouns import AgentConfig, Scenario
from agentmut.seams import AgentSpec, Group, SuiteSpec, attribute_faults, signature_faults


def importer_faults(importer: type[Any], suite: SuiteSpec, refused: Sequence[SuiteSpec]) -> Iterator[str]:
    """Yield everything that is wrong with an importer's class, tried on a suite that it reads and on others."""
    for wrong in refused:
        yield from _refusal_faults(importer, wrong)
    try:
        first, again = (importer.create(suite).scenarios() for _ in range(2))
    except Exception as error:
        yield f"it could not read the suite: {type(error).__name__}: {one_line(error)}"
        return
    yield from _scenario_faults(first, again)
    yield from _adapter_faults(importer, suite)


def _refusal_faults(importer: type[Any], wrong: SuiteSpec) -> Iterator[str]:
    try:
        importer.create(wrong).scenarios()
    except UsageError:
        return
    except Exception as error:
        yield f"it refused {wrong.argument!r} by {type(error).__name__}; expected UsageError"
    else:
        yield f"it read {wrong.argument!r}; expected UsageError"


def _scenario_faults(first: Any, again: Any) -> Iterator[str]:
    if not isinstance(first, tuple) or not all(isinstance(one, Scenario) for one in first):
        yield "scenarios() must give a tuple of agentmut.Scenario"
        return
    if not first:
        yield "scenarios() gave none; expected a scenario for each case"
    if first != again:
        yield "it read the same suite twice and differently"
    for name, times in Counter(one.name for one in first).items():
        if times > 1:
            yield f"{times} scenarios have the name {name!r}; each case needs a name of its own"
    for scenario in first:
        if not scenario.evaluators:
            yield f"the scenario {scenario.name!r} has no evaluators, so every run would pass"


def _adapter_faults(importer: type[Any], suite: SuiteSpec) -> Iterator[str]:
    try:
        adapter = importer.create(suite).adapter(
            AgentSpec(adapter=importer.name, root=suite.root), AgentConfig()
        )
    except UsageError:  # the suite needs an agent of the project
        return
    except Exception as error:
        yield f"adapter() raised {type(error).__name__}: {one_line(error)}; expected UsageError, or an adapter, or None"
        return
    if adapter is not None:
        yield from (f"its adapter: {fault}" for fault in signature_faults(type(adapter), Group.ADAPTERS, ""))
        yield from (f"its adapter: {fault}" for fault in attribute_faults(adapter))
