"""Edits that agents of smolagents cannot take."""

import re
from typing import Any

from agentmut.adapters.smolagents.model import has_settings
from agentmut.adapters.smolagents.team import Team
from agentmut.adapters.smolagents.tools import own_tools
from agentmut.nouns import AgentConfig, Edit

_PLACEHOLDER = re.compile(r"\{[{%#].{0,2000}?[}%#]\}", re.DOTALL)
_ON_WIRE = "mutants of it can reach the agent by agent.route: wire"


def beyond(edit: Edit, config: AgentConfig, team: Team) -> str:
    """Return why an edit cannot be carried out; empty where it can."""
    if edit.part == "prompt" and team.whole_prompt:
        return _of_template(edit, config.prompt)
    if edit.part == "tools":
        return _of_tool(edit, config, team)
    if edit.part == "model" and edit.path[1:] != ("name",):
        return _of_model(edit, team)
    return ""


def _of_template(edit: Edit, prompt: str) -> str:
    """Return why a template cannot take an edit: placeholders are no words of the prompt."""
    start, end = edit.span or (0, len(prompt))
    after = prompt[:start] + str(edit.after or "") + prompt[end:]
    moved = edit.span is not None and _PLACEHOLDER.search(f"{edit.before}{edit.after}")
    if moved or _PLACEHOLDER.findall(after) != _PLACEHOLDER.findall(prompt):
        return "it would change the placeholders of the system prompt's template, not its words"
    return ""


def _of_tool(edit: Edit, config: AgentConfig, team: Team) -> str:
    name = _new_name(edit)
    if name is not None and not name.isidentifier():
        return f"smolagents wants the names of tools to be identifiers of Python, which {name!r} is not"
    if edit.index is None or edit.inserts_item or "parameters" not in edit.path:
        return ""
    told = edit.path[edit.path.index("parameters") + 1 :]
    if told[:1] not in (("properties",), ("required",)):
        return "smolagents tells a model of the inputs of a tool only, not of other parts of its schema"
    if told[:1] == ("required",) and config.tools[edit.index].own_name in _names_in_code(team):
        return "the prompt of a CodeAgent does not say which inputs of a tool are required"
    return ""


def _new_name(edit: Edit) -> str | None:
    """Return the name that an edit gives to a tool."""
    value: Any = edit.after
    if edit.path[-1:] == ("name",):
        return str(value)
    return (
        str(value["name"])
        if isinstance(value, dict) and edit.index is not None and len(edit.path) == 2
        else None
    )


def _names_in_code(team: Team) -> set[str]:
    return {name for agent in team.members.values() if team.in_code(agent) for name in own_tools(agent)}


def _of_model(edit: Edit, team: Team) -> str:
    kind = type(team.changed_agent.model).__name__
    if not has_settings(team.changed_agent.model):
        return f"it is not known how a {kind} sends model.{edit.path[1]}; {_ON_WIRE}"
    if edit.path[1] == "tool_choice" and team.in_code(team.changed_agent):
        return "a CodeAgent sends no tools to choose from"
    return ""
