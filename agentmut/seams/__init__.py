"""The seams: what a plugin of each kind looks like, how it is made, declared, checked and loaded."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
