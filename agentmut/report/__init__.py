"""Reports, rendered from result.json; a page can show stored runs beside it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
