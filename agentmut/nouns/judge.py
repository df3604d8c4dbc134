"""A model judge: its model, its use, and the place where its replies are kept."""

from typing import NamedTuple, Protocol

from agentmut._base import Frozen
from agentmut.nouns.trace import Usage

PROVIDERS = ("openai", "anthropic")
"""Providers whose SDKs can be asked for a judgement."""


class JudgeModel(NamedTuple):
    """A model that judges."""

    provider: str
    name: str

    @classmethod
    def from_text(cls, written: str) -> "JudgeModel":
        """Read a judge model from `openai:NAME` or `anthropic:NAME`. Raises `ValueError`."""
        provider, _, name = written.partition(":")
        if provider not in PROVIDERS or not name:
            raise ValueError(f"expects model as openai:NAME or anthropic:NAME, got {written!r}")
        return cls(provider, name)

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}"


class JudgeSpend(Frozen):
    """The use of a judge."""

    questions: int = 0
    """Put to the model, those without a usable reply included."""
    usage: Usage = Usage()
    reused: int = 0
    """Opinions that were at hand from earlier."""

    def __add__(self, other: "JudgeSpend") -> "JudgeSpend":
        return JudgeSpend(
            questions=self.questions + other.questions,
            usage=self.usage + other.usage,
            reused=self.reused + other.reused,
        )


class OpinionCache(Protocol):
    """Replies by the digest of what was asked. Used by several threads."""

    def find(self, key: str) -> str | None:
        """Return the reply with this key, as JSON."""
        ...

    def keep(self, key: str, reply: str) -> None:
        """Keep a reply."""
        ...
