"""Bodies with placeholders, which an agent behind an address is sent, and the addresses of model services in them."""

import os
from collections.abc import Collection, Iterable, Mapping

from pydantic import JsonValue

from agentmut._base import CARRIED, AdapterError
from agentmut.adapters._shared.outside.placeholders import as_word, filled, names_in
from agentmut.mcp_proxy import URL_VARIABLE
from agentmut.recording import Trial


def texts(template: JsonValue) -> Iterable[str]:
    """Yield every text of a body."""
    if isinstance(template, str):
        yield template
    elif isinstance(template, dict | list):
        for item in template.values() if isinstance(template, dict) else template:
            yield from texts(item)


def filled_body(template: JsonValue, values: Mapping[str, JsonValue], where: str = "agent.body") -> JsonValue:
    """Return the template with its values: a text that is one placeholder becomes the value itself."""
    if isinstance(template, dict):
        return {key: filled_body(item, values, where) for key, item in template.items()}
    if isinstance(template, list):
        return [filled_body(item, values, where) for item in template]
    if not isinstance(template, str):
        return template
    names = names_in(template, where)
    if len(names) == 1 and template == f"{{{names[0]}}}":
        return values[names[0]]
    return filled(template, lambda name: as_word(values[name]), where)


def endpoint_names() -> tuple[str, ...]:
    """Return placeholders for the addresses of services and tool servers: their variables in lower case."""
    variables = (*(name for service in CARRIED for name in service.variables), URL_VARIABLE)
    return tuple(variable.lower() for variable in variables)


def endpoint_values(trial: Trial, used: Collection[str]) -> dict[str, JsonValue]:
    """Return the addresses by placeholder. Raises `AdapterError` for one that is used and not known."""
    found = {
        name: trial.endpoints.get(name.upper()) or os.environ.get(name.upper()) for name in endpoint_names()
    }
    missing = next((name for name, value in found.items() if value is None and name in used), None)
    if missing:
        raise AdapterError(f"{{{missing}}} is not known: no model service is set by {missing.upper()}")
    return dict(found)
