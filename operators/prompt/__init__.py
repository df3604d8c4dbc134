"""Operators on the system prompt. They cut and replace by span; every other character stays."""
