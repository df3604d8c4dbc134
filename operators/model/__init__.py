"""Operators on the model: which one answers, how it samples, and what is asked of its answers."""
