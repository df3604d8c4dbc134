"""Calls of tools: doubles and faults in their place, and how plain functions take part."""
