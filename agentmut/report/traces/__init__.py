"""Stored trials in the formats of other tools: OTLP with the GenAI conventions, and ATIF."""
