"""`agentmut init --from mcp.json`: a project for a tool server in a client's list."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from agentmut._base import UsageError, nearest
from agentmut.project import servers_in, split_part, tools_named_in
from agentmut.seams import ConfigFile
from agentmut.usecases.client_variables import command_of, workspace
from agentmut.usecases.starting import SCENARIOS_HEAD

_PROJECT = """\
# Which tool server is tested, by which calls, and with how much evidence.
#   agentmut mutants                     what would be broken (--diff: how)
#   agentmut run                         break it, and see which calls of the scenarios notice
version: 1

agent:                                   # taken from {file}
{agent}
suite:
  scenarios: scenarios/*.yaml

mutation:
  classes: [tool]                        # a server has no prompt and no model

statistics: {{seed: 1}}
"""
_SCENARIO = """\
- name: what_clients_are_told
  input: {list_tools: true}
  evaluators:
  - regex: \\w
# - name: a_call
#   input: {tool: NAME_OF_A_TOOL, arguments: {}}
#   evaluators:
#   - contains: what the result says
"""
_REFERENCE = re.compile(r"\$\{(?P<name>\w+)\}")


def files_for_server(target: Path, source: Path) -> dict[str, str] | None:
    """Return the files of a project for a server of `mcp.json#NAME`, by path; None for any other file.

    Without `#NAME` a list that names the tools of its servers describes an agent, and gives None too. Values of
    `env` and `headers` may be secrets: the project takes them from the environment. Raises `UsageError`.
    """
    source, wanted = split_part(source)
    file = ConfigFile(source)
    servers = servers_in(file) if source.suffix == ".json" and source.is_file() else {}
    if not servers or (not wanted and tools_named_in(file)):
        return None
    if wanted and wanted not in servers:
        raise UsageError(f"{source.name} has no server {wanted!r}. {nearest(wanted, servers)}")
    if not wanted and len(servers) > 1:
        first = next(iter(servers))
        raise UsageError(
            f"{source.name} names {len(servers)} MCP servers: {', '.join(servers)}. Name one, as in "
            f"{source.name}#{first}."
        )
    agent = _agent(servers[wanted or next(iter(servers))], workspace(source, target))
    written = "".join(
        f"  {line}\n" for line in yaml.safe_dump(agent, sort_keys=False, width=110).splitlines()
    )
    return {
        "agentmut.yaml": _PROJECT.format(file=" ".join(source.name.split()), agent=written),
        "scenarios/first.yaml": SCENARIOS_HEAD + _SCENARIO,
    }


def _agent(server: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """Return the section `agent`: a command with its variables, or an address with its headers."""
    if url := server.get("url") or server.get("httpUrl"):
        headers = _from_environment(server.get("headers"))
        return {"adapter": "mcp", "url": str(url), **({"headers": headers} if headers else {})}
    arguments = server.get("args")
    words = [str(server.get("command")), *map(str, arguments if isinstance(arguments, list) else ())]
    command, asked = command_of(words, folder)
    env = {**_from_environment(server.get("env")), **asked}
    return {"adapter": "mcp", "command": command, **({"env": env} if env else {})}


def _from_environment(values: Any) -> dict[str, str]:
    """Return references to variables: those named in the values, else variables with the keys' names."""
    if not isinstance(values, dict):
        return {}
    return {
        str(key): value
        if isinstance(value, str) and _REFERENCE.search(value)
        else f"${{{re.sub(r'[^A-Z0-9]+', '_', str(key).upper())}}}"
        for key, value in values.items()
    }
