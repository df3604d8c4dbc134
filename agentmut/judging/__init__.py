"""Judging runs: evaluators, contracts, model judges, and the comparison of two runs by facts."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
