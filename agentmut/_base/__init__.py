"""Plumbing for every room, private: frozen models, errors, the version, pointers, YAML with its lines."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
