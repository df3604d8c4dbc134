"""What `check_adapter` and `check_operator` of `agentmut.testing` look at."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
