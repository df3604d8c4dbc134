"""Operators on the tools: which are offered, how they are described, and what their calls return."""
