"""The wire: codecs read and change model requests; carriers bring requests to agentmut and on to the service."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
