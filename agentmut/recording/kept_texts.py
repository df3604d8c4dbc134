"""What a project stores of the texts of runs: full texts, digests that identify equal texts, or nothing."""

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any

from pydantic import JsonValue

from agentmut._base import canonical_json, texts_in
from agentmut.nouns import (
    AgentConfig,
    AgentTrace,
    Check,
    Ending,
    Execution,
    Footprint,
    RequestShape,
    Scenario,
    Step,
    ToolSpec,
)


class Texts(StrEnum):
    """What is stored of the texts of prompts, replies, arguments and results."""

    FULL = "full"
    HASHED = "hashed"
    """Digests: equal texts can be told from different ones."""
    NONE = "none"


NOT_KEPT = "[not kept]"
_WORD = re.compile(r"\w+")
_HIDDEN_WORD = re.compile("⟨([0-9a-f]*)⟩")
_EXCEPTION = re.compile(r"[\w.]*(?:Error|Exception|Exit|Interrupt|Timeout|Warning)(?=:|$)")
_OF_SCHEMAS = frozenset({"type", "$ref", "required", "format"})
"""Keys of JSON Schemas whose values are words of the schema language, or names of parameters."""
_OWN_WORDS = frozenset({Ending.TIMEOUT, Ending.EMPTY_ANSWER, Ending.EMPTY_RUN, Ending.CUT})
"""Endings whose reasons agentmut words itself, without a word of the run."""


class TextKeeping:
    """Takes the texts out of finished runs, unless all are kept.

    Requests keep their shape: a word that stands in the project's own config or scenarios is kept as a digest, which
    only these files tell again, since the proof that a mutation arrived is read off the requests. No other word of
    a request leaves a trace. `config` and `scenarios` are the project's; the key of the digests is made of the config.
    """

    def __init__(
        self, kind: Texts = Texts.FULL, config: AgentConfig | None = None, scenarios: Iterable[Scenario] = ()
    ) -> None:
        self.kind = kind
        own = config or AgentConfig()
        self._key = hashlib.sha256(b"texts\0" + canonical_json(own.model_dump(mode="json")).encode()).digest()
        self._words: dict[str, str] = {}
        self._digests: dict[str, str] = {}
        self._known: set[str] = set()
        if self.is_hidden:
            self._learn([own, *scenarios])

    @property
    def is_hidden(self) -> bool:
        """Return whether anything is taken out."""
        return self.kind is not Texts.FULL

    def execution(self, execution: Execution, mutated: AgentConfig | None = None) -> Execution:
        """Return an execution in its storable form; `mutated` is the config that it ran with."""
        if not self.is_hidden:
            return execution
        return execution.model_copy(
            update={
                "trace": self.trace(execution.trace),
                "reason": self.reason(execution.ending, execution.reason),
                "footprint": self.footprint(execution.footprint, mutated),
                "takes": (),
            }
        )

    def trace(self, trace: AgentTrace) -> AgentTrace:
        """Return a trace without texts: names, numbers, times and the order of steps stay."""
        if not self.is_hidden:
            return trace
        foreign = trace.foreign and trace.foreign.model_copy(update={"turns": ()})
        return trace.model_copy(
            update={
                "texts": self.kind.value,
                "steps": tuple(map(self._step, trace.steps)),
                "outputs": tuple(map(self.value, trace.outputs)),
                "error": None if trace.error is None else self.error(trace.error),
                "stderr": str(self.value(trace.stderr or None) or ""),
                "checks": self.checks(trace.checks),
                "foreign": foreign,
                "workspace": trace.workspace
                and trace.workspace.with_texts(lambda text: str(self.value(text or None) or "")),
            }
        )

    def checks(self, checks: Iterable[Check]) -> tuple[Check, ...]:
        """Return the checks without their reasons, which quote the run."""
        if not self.is_hidden:
            return tuple(checks)
        return tuple(
            check.model_copy(update={"reason": _reason_of(check.evaluator, check.passed), "details": None})
            for check in checks
        )

    def value(self, value: JsonValue) -> JsonValue:
        """Return the storable form of a value; None stays None."""
        if value is None or not self.is_hidden:
            return value
        if self.kind is Texts.NONE:
            return NOT_KEPT
        return f"[#{self._digest(value if isinstance(value, str) else canonical_json(value))}]"

    def error(self, text: str) -> str:
        """Return what is kept of an error: the type of the exception.

        >>> TextKeeping(Texts.NONE).error("KeyError: 'Ada'")
        'KeyError: [not kept]'
        """
        if not self.is_hidden or not text:
            return text
        kind = _EXCEPTION.match(text)
        return f"{kind[0]}: {NOT_KEPT}" if kind and kind[0] else NOT_KEPT

    def reason(self, ending: Ending, text: str) -> str:
        """Return what is kept of the reason for an ending."""
        return text if ending in _OWN_WORDS else self.error(text)

    def footprint(self, seen: Footprint, mutated: AgentConfig | None = None) -> Footprint:
        """Return the requests with digests for the project's own words, and nothing for all other words."""
        if not self.is_hidden:
            return seen
        self._learn([mutated] if mutated else [])
        return seen.model_copy(update={"requests": tuple(_shape(one, self._hidden) for one in seen.requests)})

    def shown(self, seen: Footprint, mutated: AgentConfig | None = None) -> Footprint:
        """Return a kept footprint with the words that the project's config, scenarios or the mutant still have."""
        if not self.is_hidden or not seen.requests:
            return seen
        self._learn([mutated] if mutated else [])
        return seen.model_copy(
            update={"requests": tuple(_shape(one, self._legible) for one in seen.requests)}
        )

    def _step(self, step: Step) -> Step:
        arguments = step.arguments and {
            str(name): self.value(given) for name, given in step.arguments.items()
        }
        return step.model_copy(
            update={
                "arguments": arguments,
                "output": self.value(step.output),
                "error": None if step.error is None else self.error(step.error),
            }
        )

    def _learn(self, sources: Iterable[AgentConfig | Scenario]) -> None:
        for source in sources:
            if source.digest in self._known:
                continue
            self._known.add(source.digest)
            for text in texts_in(source.model_dump(mode="json")):
                for word in _WORD.findall(text):
                    if word not in self._digests:
                        self._digests[word] = digest = self._digest(word)
                        self._words[digest] = word

    def _digest(self, text: str) -> str:
        return hmac.digest(self._key, text.encode("utf-8", "replace"), "sha256").hex()[:12]

    def _hidden(self, text: str) -> str:
        return _WORD.sub(lambda word: f"⟨{self._digests.get(word[0], '')}⟩", text)

    def _legible(self, text: str) -> str:
        return _HIDDEN_WORD.sub(lambda word: self._words.get(word[1], "⟨⟩"), text)


def _reason_of(evaluator: str, passed: bool) -> str:
    return f"{evaluator} {'holds' if passed else 'does not hold'}; the texts that say why are not kept"


def _shape(shape: RequestShape, text: Callable[[str], str]) -> RequestShape:
    """Return a request's shape with `text` applied to all its texts; names and settings stay."""
    system = text(shape.instructions)
    return shape.model_copy(
        update={
            "text": system + text(shape.text[shape.system :]),
            "system": len(system),
            "tools": tuple(_tool(tool, text) for tool in shape.tools),
            "stop": tuple(map(text, shape.stop)),
            "response_format": _mapped(shape.response_format, text),
        }
    )


def _tool(tool: ToolSpec, text: Callable[[str], str]) -> ToolSpec:
    parameters = _mapped(tool.parameters, text)
    return tool.model_copy(update={"description": text(tool.description), "parameters": parameters})


def _mapped(value: Any, text: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {key: item if key in _OF_SCHEMAS else _mapped(item, text) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_mapped(item, text) for item in value)
    return value
