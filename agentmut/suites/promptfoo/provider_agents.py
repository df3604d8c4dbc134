"""Providers of a config that are the agent itself: a program, a Python file or an HTTP endpoint."""

import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import JsonValue, SecretStr

from agentmut._base import UsageError
from agentmut.seams import AgentSpec
from agentmut.suites.promptfoo.providers import Provider

RUNNER = Path(__file__).parent / "call_api.py"
"""Calls the function of a Python provider. It imports the standard library alone, for any interpreter."""
PROMPT = "{{prompt}}"
_HTTP_KEYS = frozenset(
    {"url", "method", "headers", "body", "transformResponse", "responseParser", "timeout", "maxRetries"}
)


def agent_of(provider: Provider, spec: AgentSpec, folder: Path) -> AgentSpec | None:
    """Return the agent that a provider is, for the adapter `command` or `http`; None for a model.

    `folder` is the config's. Raises `UsageError` for what no adapter can say.
    """
    kind, _, rest = provider.id.partition(":")
    if kind == "exec":
        return _program(spec, folder, (*shlex.split(rest), "{input}", *_for_providers(provider)))
    if kind == "python" or (kind == "file" and rest.partition(".py")[1]):
        return _python(provider, spec, folder, rest.removeprefix("//"))
    if kind in ("http", "https"):
        return _endpoint(provider, spec)
    return None


def _program(spec: AgentSpec, folder: Path, command: tuple[str, ...]) -> AgentSpec:
    if not command:
        raise UsageError("suite.promptfoo: the provider `exec:` names no program")
    return spec.model_copy(update={"adapter": "command", "command": command, "root": str(folder)})


def _for_providers(provider: Provider) -> tuple[str, str]:
    """Return the options and the context, as promptfoo passes them to a program; braces are written twice."""
    context: dict[str, Any] = {"vars": {}}
    return _written(provider.options), _written(context)


def _written(value: Mapping[str, Any]) -> str:
    return json.dumps(value).replace("{", "{{").replace("}", "}}")


def _python(provider: Provider, spec: AgentSpec, folder: Path, named: str) -> AgentSpec:
    path, _, function = named.partition(".py:") if ".py:" in named else (named, "", "")
    file = (folder / (f"{path}.py" if function else path)).resolve()
    if not file.is_file():
        raise UsageError(
            f"suite.promptfoo: the provider {provider.id!r} names {file.name}, which is not in {folder}"
        )
    config = provider.options.get("config") or {}
    interpreter = str(config.get("pythonExecutable") or sys.executable)
    told = (
        str(RUNNER),
        str(file),
        function or "call_api",
        "{input_file}",
        "{answer_file}",
        _written(provider.options),
    )
    return _program(spec, folder, (interpreter, *told))


def _endpoint(provider: Provider, spec: AgentSpec) -> AgentSpec:
    config = provider.options.get("config") or {}
    if unknown := sorted(set(config) - _HTTP_KEYS):
        raise UsageError(_http_refusal(f"its setting {unknown[0]!r}"))
    url = str(config.get("url") or provider.id)
    return spec.model_copy(
        update={
            "adapter": "http",
            "url": _filled(url),
            "method": str(config.get("method") or ("POST" if "body" in config else "GET")).upper(),
            "headers": {
                name: SecretStr(_filled(str(value))) for name, value in (config.get("headers") or {}).items()
            },
            "body": _body(config.get("body")),
            "answer": _pointer(config.get("transformResponse") or config.get("responseParser")),
        }
    )


def _http_refusal(what: str) -> str:
    return (
        f"suite.promptfoo: {what} of the http provider has no counterpart here. Name the agent with "
        "`agent: {adapter: http, url: ...}`"
    )


def _body(value: Any) -> JsonValue:
    """Return a body with agentmut's placeholder in the place of promptfoo's."""
    if isinstance(value, str):
        try:
            return _body(json.loads(value))
        except ValueError:
            return _filled(value)
    if isinstance(value, Mapping):
        return {str(key): _body(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_body(each) for each in value]
    found: JsonValue = value
    return found


def _filled(text: str) -> str:
    pieces = text.replace("{{ prompt }}", PROMPT).split(PROMPT)
    if any("{{" in piece for piece in pieces):
        raise UsageError(_http_refusal(f"the template {text!r}"))
    return "{input}".join(piece.replace("{", "{{").replace("}", "}}") for piece in pieces)


def _pointer(transform: Any) -> str | None:
    """Return the JSON pointer of a path such as `json.choices[0].text`; None without a transformation."""
    if transform is None or transform == "text":
        return None
    path = str(transform).strip()
    names = path.replace("[", ".").replace("]", "").replace("'", "").replace('"', "").split(".")
    if names[0] != "json" or not all(name.replace("_", "").replace("-", "").isalnum() for name in names):
        raise UsageError(_http_refusal(f"the transformation {path!r}"))
    return "".join(f"/{name}" for name in names[1:])
