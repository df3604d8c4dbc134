"""Agents that are deployed to a Vertex AI agent engine."""
