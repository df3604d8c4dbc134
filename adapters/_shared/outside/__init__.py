"""Agents that run outside of this process: programs and services."""
