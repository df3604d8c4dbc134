"""Semantic Kernel."""
