"""Operators on the flow of an agent: limits, nodes and what leads from one to the next."""
