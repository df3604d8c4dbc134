"""The model request: codecs read and change it, carriers bring it to agentmut and on to the service."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
