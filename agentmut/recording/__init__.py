"""The running trial: its context, what is recorded of it, and what is kept out of the record."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
