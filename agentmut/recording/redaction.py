"""Redaction: secrets are removed from all data before the data reaches the disk or a terminal."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from agentmut._base import storable_json
from agentmut.nouns import Execution, Footprint, RequestShape, Take
from agentmut.recording.column_secrets import column_spans
from agentmut.recording.command_secrets import COMMANDS, manifest_spans
from agentmut.recording.cut_secrets import without_cut_secrets
from agentmut.recording.declared_secrets import DeclaredSecrets
from agentmut.recording.divided_secrets import divided_spans, further_spans
from agentmut.recording.encoded_secrets import encoded_spans
from agentmut.recording.escaped_secrets import escaped_spans
from agentmut.recording.known_secrets import LEAST, KnownSecrets
from agentmut.recording.likely_forms import LikelyForms
from agentmut.recording.loose_values import LOOSE
from agentmut.recording.mnemonics import mnemonic_spans
from agentmut.recording.named_values import MARKS, NAMED
from agentmut.recording.nested_secrets import IN_STRINGS, nested_spans
from agentmut.recording.random_text import RANDOM
from agentmut.recording.secret_forms import SERVICES, STRUCTURES, Form, kept_of, places_of, secret_in
from agentmut.recording.spans import Span, masked_at
from agentmut.recording.streamed_secrets import has_secret_frames, masked_stream

FORMS = (*SERVICES, *STRUCTURES, *NAMED, *COMMANDS, *LOOSE, RANDOM)
"""What is secret whatever the project is, in the order in which it is looked for."""
_LIKELY = LikelyForms(FORMS)
_BEGIN_AT_MARKS = frozenset(id(form.pattern) for form in SERVICES if form.before == (0,))
"""By identity: the hash of a pattern takes as long as a search."""
_NAMES = frozenset(form.kind for form in NAMED if form.marks == MARKS)
MASK = "[redacted]"
MOST_REMEMBERED = 4_096
"""Requests without secrets that are remembered by their digests."""
MOST_FOOTPRINTS = 65_536
"""Footprints without secrets that are remembered, by their digests: some 8 MB."""
Model = TypeVar("Model", bound=BaseModel)


class Redactor:
    """Replaces known secret values, and what has the form of a secret.

    Known secrets of fewer than `LEAST` characters are replaced only if they are among `short`, as whole words.
    `declared` is what the project says is secret. What only has the form of a secret, or is declared, and stands in one
    of the project's `own` texts, is left: it is in the project's files anyway, and a prompt that was cut could not be
    told from a mutant's.
    """

    def __init__(
        self,
        secrets: Iterable[str],
        own: Iterable[str] = (),
        short: Iterable[str] = (),
        declared: DeclaredSecrets | None = None,
    ) -> None:
        known = {secret for secret in secrets if len(secret) >= LEAST}
        self._known = KnownSecrets({*known, *short})
        self._declared = declared or DeclaredSecrets()
        self._own: frozenset[str] = frozenset()
        self._own = frozenset(secret for text in own for secret in self._formed_in(text))
        self._clean: set[bytes] = set()
        """Digests of requests in which no secret was found."""
        self._clean_footprints: set[str] = set()

    def text(self, text: str) -> str:
        """Return the text without secrets.

        >>> Redactor(["hunter2hunter2"]).text("The word is hunter2hunter2!")
        'The word is [redacted]!'
        """
        text = self._declared.masked(self._known.masked(text, MASK), MASK, self._own)
        # a mask is part of no mark, so none comes into the text on the way
        likely = _LIKELY.forms_in(text)
        for form in likely:
            text = self._without(form, text)
        text = masked_at(text, self._hidden_in(text, likely), MASK)
        return masked_at(text, further_spans(text, MASK), MASK)

    def execution(self, execution: Execution) -> Execution:
        """Return the execution without secrets in any of its parts."""
        is_clean = (
            self._holds_none(execution.trace.written)
            and self._is_rest_clean(execution)
            and self._is_footprint_clean(execution.footprint)
        )
        return execution if is_clean else self.model(execution)

    def _holds_none(self, text: str) -> bool:
        return self.text(text) == text

    def _is_rest_clean(self, execution: Execution) -> bool:
        """Return whether an execution has no secret beside its trace and its footprint; most have nothing there."""
        if not (execution.reason or execution.takes or execution.judging or execution.hooks):
            return True
        left_out = {"trace", "footprint"}
        rest = storable_json(execution, exclude_defaults=True, exclude=left_out)
        return self._holds_none(rest) and all(map(self._is_reply_clean, execution.takes))

    def _is_footprint_clean(self, seen: Footprint) -> bool:
        """Return whether a footprint has no secret. Most trials of a scenario have the very same one."""
        if seen.digest in self._clean_footprints:  # the store needs the digest in any case
            return True
        rest = storable_json(seen, exclude_defaults=True, exclude={"requests"})  # defaults are no secrets
        if not (self._holds_none(rest) and all(map(self._is_clean, seen.requests))):
            return False
        if len(self._clean_footprints) >= MOST_FOOTPRINTS:
            self._clean_footprints.clear()
        self._clean_footprints.add(seen.digest)
        return True

    def _is_clean(self, shape: RequestShape) -> bool:
        """Return whether a request has no secret. Most trials send the very requests of earlier ones."""
        text = storable_json(shape, exclude_defaults=True)
        key = hashlib.blake2b(text.encode(), digest_size=16).digest()
        if key in self._clean:
            return True
        if not self._holds_none(text):
            return False
        if len(self._clean) >= MOST_REMEMBERED:
            self._clean.clear()
        self._clean.add(key)
        return True

    def secrets_in(self, text: str) -> set[str]:
        """Return what `text` would take out."""
        return (set(self._formed_in(text)) - self._own).union(self._known.found_in(text))

    def _hidden_in(self, text: str, likely: Sequence[Form]) -> list[Span]:
        """Return where secrets are that are encoded, escaped, divided, or phrases of words."""
        found = (
            *mnemonic_spans(text),
            *manifest_spans(text),
            *(column_spans(text) if any(form.kind in _NAMES for form in likely) else ()),
            *encoded_spans(text, self._plain_or_encoded),
            *escaped_spans(text, self._plain_or_encoded),
            *nested_spans(text, self._structured_in),
            *divided_spans(text, [form for form in likely if id(form.pattern) in _BEGIN_AT_MARKS]),
        )
        return [span for span in found if text[slice(*span)] not in self._own]

    def _any_in(self, text: str) -> list[Span]:
        return [*self._plain_in(text), *self._hidden_in(text, _LIKELY.forms_in(text))]

    def _plain_or_encoded(self, text: str) -> list[Span]:
        return [*self._plain_in(text), *encoded_spans(text, self._plain_in)]

    def _structured_in(self, text: str) -> list[Span]:
        """Return where secrets are in a text that are told by what stands around them."""
        return [*self._spans_of(IN_STRINGS, text), *manifest_spans(text), *column_spans(text)]

    def _plain_in(self, text: str) -> list[Span]:
        """Return where secrets are in a text as it is."""
        return self._spans_of(_LIKELY.forms_in(text), text)

    def _spans_of(self, forms: Iterable[Form], text: str) -> list[Span]:
        named = (*self._known.found_in(text), *self._declared.found_in(text))
        places = [(at, at + len(secret)) for secret in named if secret for at in places_of(secret, text)]
        formed = (found for form in forms for found in form.found_in(text))
        spans = [*places, *((f.start() + len(kept_of(f)), f.end()) for f in formed)]
        return [span for span in spans if (secret := text[slice(*span)]) != MASK and secret not in self._own]

    def quoting(self, text: str, secrets: Iterable[str]) -> str:
        """Return a text without secrets, where the text may quote the beginning of another text that has `secrets`."""
        return self.text(without_cut_secrets(text, secrets, MASK))

    def model(self, model: Model) -> Model:
        """Return a noun without secrets.

        Names of fields and enumerated values are agentmut's own, whatever is secret.
        """
        fields = {name: self._field(name, getattr(model, name)) for name in type(model).model_fields}
        if isinstance(model, RequestShape):  # where its instructions end is a count of characters
            fields["system"] = len(self.text(model.instructions))
        if isinstance(model, Take):
            fields["given"], fields["encoded"] = self._reply(model)
        return model.model_copy(update=fields)

    def _reply(self, take: Take) -> tuple[str, bool]:
        """Return a recorded reply without secrets, and whether it is base64. Binary frames are whole or masked."""
        if take.encoded:
            return (MASK, False) if has_secret_frames(take.body, self._any_in) else (take.given, True)
        return self.text(masked_stream(take.given, self._any_in, MASK)), False

    def _is_reply_clean(self, take: Take) -> bool:
        return self._reply(take) == (take.given, take.encoded)

    def _field(self, name: str, value: Any) -> Any:
        return self._item(name, value) if type(value) is str else self._value(value)

    def _item(self, name: str, value: Any) -> Any:
        """Return the value of a name without secrets; the name itself may show that the value is secret."""
        if isinstance(value, int | float) and self._declared.is_named(name):
            return MASK
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

    def _formed_in(self, text: str) -> Iterator[str]:
        """Yield what has the form of a secret in a text, or is declared."""
        yield from secrets_by_form(text)
        yield from self._declared.found_in(text)
        yield from (text[slice(*span)] for span in self._hidden_in(text, _LIKELY.forms_in(text)))

    def _without(self, form: Form, text: str) -> str:
        pieces, end = [], 0
        for found in form.found_in(text):
            if secret_in(found) not in self._own:
                pieces += [text[end : found.start()], kept_of(found), MASK]
                end = found.end()
        return "".join((*pieces, text[end:])) if pieces else text


def secrets_by_form(text: str) -> Iterator[str]:
    """Yield what has the form of a secret in a text."""
    for form in _LIKELY.forms_in(text):
        yield from map(secret_in, form.found_in(text))


__all__ = ["FORMS", "LEAST", "MASK", "Redactor", "secrets_by_form"]
