"""The faults of a project file that its schema does not show: unknown names, and keys that do not go together."""

from collections.abc import Iterator, Sequence

from agentmut._base import KeyPath, nearest
from agentmut.project.agent_section import AgentSection
from agentmut.project.schema import MutationSettings, SuiteSection
from agentmut.seams import AgentKeys, Group, KeepsWorkspace, TakesKeys, load, names, unknown_name


def suite_problems(suite: SuiteSection, known: Sequence[str]) -> Iterator[tuple[KeyPath, str]]:
    """Yield what is wrong with the names of other tools in the section `suite`."""
    others = suite.__pydantic_extra__
    for key in others.keys() - set(known):
        yield ("suite", key), f"unknown key. {nearest(key, {*known, *SuiteSection.model_fields})}"
    kinds = [key for key in others if key in known]
    if kinds and "scenarios" in suite.model_fields_set:
        yield ("suite", kinds[0]), "give either `scenarios` or the suite of another tool, not both"
    for kind in kinds[1:]:
        yield ("suite", kind), f"one suite is measured at a time; there is {kinds[0]!r} already"


def mutation_problems(mutation: MutationSettings, known: Sequence[str]) -> Iterator[tuple[KeyPath, str]]:
    """Yield what is wrong with the names of operators and classes in the section `mutation`."""
    if mutation.classes is not None and mutation.operators is not None:
        yield ("mutation", "operators"), "give either classes or operators, not both"
    for index, operator in enumerate(mutation.operators or ()):
        if unknown_name((operator,), known):
            yield (
                ("mutation", "operators", index),
                f"unknown operator {operator!r}. {nearest(operator, known)}",
            )
    available = {name.partition(".")[0] for name in known}
    for index, wanted in enumerate(mutation.classes or ()):
        if wanted not in available:
            yield (
                ("mutation", "classes", index),
                f"no operator of class {wanted!r} is available in this version. {nearest(wanted, available)}",
            )


_EVERYBODY = frozenset({"adapter", "version", "env", "config", "safe_tools"})
"""Keys of the section `agent` that every adapter takes."""


def agent_problems(agent: AgentSection, *, needs_adapter: bool = True) -> Iterator[tuple[KeyPath, str]]:
    """Yield what is wrong with the section, by key."""
    known = names(Group.ADAPTERS)
    if agent.adapter is None:
        if needs_adapter:
            yield ("agent", "adapter"), f"is missing. {nearest('', known)}"
        return
    if agent.adapter not in known:
        yield ("agent", "adapter"), f"unknown adapter {agent.adapter!r}. {nearest(agent.adapter, known)}"
        return
    adapter = load(Group.ADAPTERS, agent.adapter)
    keys: AgentKeys | None = adapter.agent_keys if issubclass(adapter, TakesKeys) else None
    if keys is not None:  # an adapter without this declaration checks its own spec
        yield from _key_problems(agent, keys)


def _key_problems(agent: AgentSection, keys: AgentKeys) -> Iterator[tuple[KeyPath, str]]:
    """Yield which keys the adapter needs, does not use, or cannot combine."""
    needed = agent.source if keys.needed == "factory" else keys.needed and getattr(agent, keys.needed)
    if keys.needed and not needed:
        example = f"{keys.needed}: {keys.example}"
        yield ("agent",), f"the {agent.adapter} adapter needs the key {keys.needed!r}, as in `{example}`"
    for key in agent.model_fields_set - _EVERYBODY - keys.others - {keys.needed}:
        takes = ", ".join(repr(name) for name in [keys.needed, *sorted(keys.others)] if name)
        yield ("agent", key), f"the {agent.adapter} adapter does not use {key!r}; it takes {takes}"
    if agent.factory and agent.graph:
        yield ("agent", "graph"), "give either factory or graph: both name the agent"
    if isinstance(agent.command, str) and not agent.shell:
        a_list = 'a command is a list, as in `[node, agent.js, "{input}"]`; one line takes `shell: true`'
        yield ("agent", "command"), a_list


def workspace_problems(agent: AgentSection) -> Iterator[tuple[KeyPath, str]]:
    """Yield what is wrong where the agent reads files of a workspace itself."""
    known = names(Group.ADAPTERS)
    if agent.adapter in known and not issubclass(load(Group.ADAPTERS, agent.adapter), KeepsWorkspace):
        said = f"the {agent.adapter} adapter gives an agent no folder; a program has one (`adapter: command`)"
        yield ("agent", "config", "context", "workspace"), said
