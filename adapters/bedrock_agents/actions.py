"""The actions that a Bedrock agent carries out itself, with their outcomes, from its trace. Pure functions."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agentmut.adapters.bedrock_agents.terms import value_of


def seconds(part: Mapping[str, Any], otherwise: float) -> float:
    """Return the duration of an action, if the service reports it."""
    milliseconds = (part.get("metadata") or {}).get("totalTimeMs")
    return otherwise if milliseconds is None else milliseconds / 1000


def error(found: Mapping[str, Any]) -> str | None:
    """Return the error of an action, in the code interpreter's words; None if there was none."""
    return found.get("executionError") or ("the time was up" if found.get("executionTimeout") else None)


def _action(found: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    name = found.get("function") or f"{found.get('verb', '')} {found.get('apiPath', '')}".strip()
    given = [*(found.get("parameters") or ()), *_body(found)]
    return name, {one["name"]: value_of(one) for one in given if one.get("name")}


def _body(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for content in ((found.get("requestBody") or {}).get("content") or {}).values():
        yield from content if isinstance(content, list) else ()


def _lookup(found: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    return "knowledge_base", {key: found[key] for key in ("knowledgeBaseId", "text") if key in found}


def _code(found: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    return "code_interpreter", {"code": found.get("code", "")}


ACTIONS: Mapping[str, Callable[[Mapping[str, Any]], tuple[str, dict[str, Any]]]] = {
    "actionGroupInvocation": _action,
    "knowledgeBaseLookup": _lookup,
    "codeInterpreterInvocation": _code,
}
"""What the service does itself, by how the trace calls it."""


SOURCES: Mapping[str, str] = {
    "ACTION_GROUP": "actionGroupInvocation",
    "KNOWLEDGE_BASE": "knowledgeBaseLookup",
}
"""What has failed, by the failure after which the model is asked again."""


def given(found: Mapping[str, Any]) -> Any:
    """Return the outcome of an action: text, the output of code, or the results of a knowledge base."""
    for key in ("text", "executionOutput"):
        if key in found:
            return found[key]
    references = found.get("retrievedReferences") or ()
    return [_reference(one.get("content") or {}) for one in references]


def _reference(content: Mapping[str, Any]) -> Any:
    """Return what a knowledge base has found: text, or a row of a table."""
    if "row" in content:
        return {one.get("columnName", ""): one.get("columnValue") for one in content["row"]}
    spoken = (content.get("audio") or {}).get("transcription") or (content.get("video") or {}).get("summary")
    return content.get("text") or spoken or ""
