"""Agents made mutants by changing their model requests on the way."""

from agentmut.wire.rewriting.rewriter import ConfigRewriter

__all__ = ["ConfigRewriter"]
