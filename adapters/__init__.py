"""Adapters: one module per agent framework, each turning its agents into agentmut's trace protocol."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
