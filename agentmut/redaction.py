"""Secrets are taken out of everything before it reaches the disk or a terminal."""

import json
import re
from collections.abc import Iterable, Mapping

from pydantic import SecretStr

from agentmut.execution import Execution
from agentmut.frozen import storable_json

CREDENTIAL = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
"""Names of environment variables that hold credentials."""
LEAST = 12
"""Characters that a value has to have: replacing shorter ones would garble ordinary text."""
_BEGINS = r"(?:\b|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
"""Also behind an escaped line break: what is searched may be JSON, or JSON within JSON."""
KNOWN_FORMS = _BEGINS + (
    r"(?:(?:sk|pk|ghp|gho|xox[abp])[-_][A-Za-z0-9_-]{16,}|AKIA[A-Z0-9]{16}\b|AIza[A-Za-z0-9_-]{30,}"
    r"|Bearer [A-Za-z0-9._-]{16,})"
)
MASK = "[redacted]"


class Redactor:
    """Replaces known secret values, and what has the form of a well-known kind of key.

    What only has the form of a key, and stands in one of the project's `own` texts, is left: it is in the project's
    files anyway, and a prompt that was cut could not be told from a mutant's.
    """

    def __init__(self, secrets: Iterable[str], own: Iterable[str] = ()) -> None:
        known = sorted({s for s in secrets if len(s) >= LEAST}, key=len, reverse=True)
        self._pattern = re.compile("|".join([*(form for s in known for form in _spellings(s)), KNOWN_FORMS]))
        self._own = frozenset(found[0] for text in own for found in re.finditer(KNOWN_FORMS, text)) - set(
            known
        )

    def text(self, text: str) -> str:
        """The text without secrets.

        >>> Redactor(["hunter2hunter2"]).text("password hunter2hunter2!")
        'password [redacted]!'
        """
        return self._pattern.sub(lambda found: found[0] if found[0] in self._own else MASK, text)

    def execution(self, execution: Execution) -> Execution:
        """The execution without secrets, in whatever part of it they are."""
        written = storable_json(execution)
        if not self._pattern.search(written):
            return execution
        return Execution.model_validate_json(self.text(written))


def secret_values(declared: Mapping[str, str], environment: Mapping[str, str]) -> set[str]:
    """Values of the project's own variables, and of those of the process that are named like credentials."""
    named = {value for name, value in environment.items() if CREDENTIAL.search(name)}
    return named | set(declared.values())


def header_secrets(headers: Mapping[str, SecretStr]) -> set[str]:
    """What may be secret in the headers that a project sends: their values, and the words in them (`Bearer ...`)."""
    values = (value.get_secret_value() for name, value in headers.items() if not _PLAIN_HEADER.match(name))
    return {secret for value in values for secret in (value, *value.split())}


_PLAIN_HEADER = re.compile(r"accept|content-|user-agent", re.IGNORECASE)


def _spellings(secret: str) -> tuple[str, ...]:
    """As it is, and as JSON and JSON within JSON write it, longest first."""
    forms = [secret]
    for ascii_only in (True, False):
        once = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        forms += [json.dumps(once, ensure_ascii=ascii_only)[1:-1], once]
    return tuple(re.escape(form) for form in sorted(set(forms), key=len, reverse=True))
