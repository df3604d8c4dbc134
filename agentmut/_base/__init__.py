"""Plumbing that every room may use: frozen models, errors, the version, pointers, YAML with its lines. Private."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
