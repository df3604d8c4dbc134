"""An offline stand-in for a language model, for demos and tests; no evidence about real models.

`behave.reply` is the model as a pure function; `server.serve` puts it on a loopback port.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
