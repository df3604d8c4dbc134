"""Rewriting: model requests are changed on their way, so that an unchanged agent becomes a mutant."""

from agentmut.wire.rewriting.rewriter import ConfigRewriter

__all__ = ["ConfigRewriter"]
