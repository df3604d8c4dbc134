"""The model request as the place where every agent shows what it is: codecs read it, carriers see it pass."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
