"""Secrets are taken out of everything before it reaches the disk or a terminal."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from pydantic import BaseModel

from agentmut._base import storable_json
from agentmut.nouns import Execution, RequestShape
from agentmut.recording.known_secrets import LEAST, KnownSecrets
from agentmut.recording.named_values import NAMED
from agentmut.recording.random_text import RANDOM
from agentmut.recording.secret_forms import SERVICES, STRUCTURES, Form, kept_of, secret_in

FORMS = (*SERVICES, *STRUCTURES, *NAMED, RANDOM)
"""What is secret whatever the project is, in the order in which it is looked for."""
MASK = "[redacted]"
Model = TypeVar("Model", bound=BaseModel)


class Redactor:
    """Replaces known secret values, and what has the form of a secret.

    Known secrets of fewer than `LEAST` characters are replaced only if they are among `short`, as whole words.
    What only has the form of a secret, and stands in one of the project's `own` texts, is left: it is in the project's
    files anyway, and a prompt that was cut could not be told from a mutant's.
    """

    def __init__(self, secrets: Iterable[str], own: Iterable[str] = (), short: Iterable[str] = ()) -> None:
        known = {secret for secret in secrets if len(secret) >= LEAST}
        self._known = KnownSecrets({*known, *short})
        self._own = frozenset(found for text in own for found in secrets_by_form(text))

    def text(self, text: str) -> str:
        """Return the text without secrets.

        >>> Redactor(["hunter2hunter2"]).text("The word is hunter2hunter2!")
        'The word is [redacted]!'
        """
        text = self._known.masked(text, MASK)
        for form in FORMS:
            text = self._without(form, text)
        return text

    def execution(self, execution: Execution) -> Execution:
        """Return the execution without secrets, in whatever part of it they are."""
        written = storable_json(execution)
        return execution if self.text(written) == written else self.model(execution)

    def model(self, model: Model) -> Model:
        """Return a noun without secrets.

        Names of fields and enumerated values are agentmut's own, whatever is secret.
        """
        fields = {name: self._item(name, getattr(model, name)) for name in type(model).model_fields}
        if isinstance(model, RequestShape):  # where its instructions end is a count of characters
            fields["system"] = len(self.text(model.instructions))
        return model.model_copy(update=fields)

    def _item(self, name: str, value: Any) -> Any:
        """Return the value of a name, without secrets: some are known by the name before them."""
        if type(value) is not str:
            return self._value(value)
        clean = self.text(json.dumps({name: value}, ensure_ascii=False))
        try:
            (masked,) = json.loads(clean).values()
        except ValueError:  # what was masked took a part of the JSON with it
            return MASK
        return masked

    def _value(self, value: Any) -> Any:
        if type(value) is str:
            return self.text(value)
        if isinstance(value, BaseModel):
            return self.model(value)
        if isinstance(value, dict):
            return {self._value(key): self._item(str(key), item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(self._value, value))
        return value

    def _without(self, form: Form, text: str) -> str:
        pieces, end = [], 0
        for found in form.found_in(text):
            if secret_in(found) not in self._own:
                pieces += [text[end : found.start()], kept_of(found), MASK]
                end = found.end()
        return "".join((*pieces, text[end:])) if pieces else text


def secrets_by_form(text: str) -> Iterator[str]:
    """Yield what has the form of a secret in a text."""
    for form in FORMS:
        yield from map(secret_in, form.found_in(text))


__all__ = ["FORMS", "LEAST", "MASK", "Redactor", "secrets_by_form"]
