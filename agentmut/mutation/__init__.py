"""From a config to its mutants: operators by name, generation, pairs, controls, and the parts that a mutant changes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
