"""One module per verb: what the command line and Python can do with a project, besides a campaign (`agentmut.usecases.campaigns`)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
