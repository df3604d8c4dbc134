"""Whether a document that a verb printed keeps the schema that `agentmut schema` publishes for the verb."""

from typing import Any

from jsonschema import Draft202012Validator

from agentmut.cli.json_documents import schema_of


def problems(verb: str, document: Any) -> list[str]:
    """Say what is wrong with a document: of the model that fits it best where several may."""
    validator = Draft202012Validator(schema_of(verb))
    return [
        f"{'/'.join(map(str, error.absolute_path))}: {[each.message for each in error.context or []][:8]}"
        for error in validator.iter_errors(document)
    ]
