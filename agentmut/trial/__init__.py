"""One trial: how its agent is built, run, isolated and observed, and how its ending is classified."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
