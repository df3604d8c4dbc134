"""One trial: how the agent is built, run, isolated, observed and classified."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
