"""The seams: the protocol of each kind of plugin, and how a plugin is made, declared, checked and loaded."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
