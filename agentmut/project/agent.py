"""The agent section of a project file: which keys an adapter takes, and what it is given."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import SecretStr

from agentmut._base import KeyPath, nearest
from agentmut.project.schema import AgentSection
from agentmut.seams import AgentKeys, AgentSpec, Group, TakesKeys, load, names

_EVERYBODY = frozenset({"adapter", "version", "env", "config", "safe_tools"})


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
    if keys is None:  # the adapter checks its own spec
        return
    if keys.needed and not getattr(agent, keys.needed):
        example = f"{keys.needed}: {keys.example}"
        yield ("agent",), f"the {agent.adapter} adapter needs the key {keys.needed!r}, as in `{example}`"
    for key in agent.model_fields_set - _EVERYBODY - keys.others - {keys.needed}:
        takes = ", ".join(repr(name) for name in [keys.needed, *sorted(keys.others)] if name)
        yield ("agent", key), f"the {agent.adapter} adapter does not use {key!r}; it takes {takes}"
    if isinstance(agent.command, str) and not agent.shell:
        said = 'a command is a list, as in `[node, agent.js, "{input}"]`; one line takes `shell: true`'
        yield ("agent", "command"), said


def agent_spec(
    agent: AgentSection, headers: dict[str, SecretStr], root: Path, otherwise: str = ""
) -> AgentSpec:
    """Return the spec for the adapter; `headers` are the section's, with values of the environment filled in.

    `otherwise` is the name of the adapter where the section names none.
    """
    command = (agent.command,) if isinstance(agent.command, str) else tuple(agent.command or ())
    same = agent.model_dump(include=set(AgentSpec.model_fields) - {"adapter", "command", "headers", "root"})
    adapter = agent.adapter or otherwise
    return AgentSpec(**same, adapter=adapter, command=command, headers=headers, root=str(root))
