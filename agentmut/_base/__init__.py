"""Plumbing that every room may use: frozen models, errors, the version, pointers, YAML with its lines. Private."""
