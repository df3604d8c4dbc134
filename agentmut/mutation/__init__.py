"""From a config to its mutants: operators by name, generation, pairs, controls, and what a mutant touches."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
