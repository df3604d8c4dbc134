"""Whether mutants can reach an agent by rebuild, on the wire, or both; checked part by part."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
