"""Metamorphic relations at work: source runs, follow-up runs, verdicts, survivors."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
