"""The running trial: its context, its record, and the secrets that stay out of the record."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
