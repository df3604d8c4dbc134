"""Proposed assertions, graded by people or models that do not know where they come from."""
