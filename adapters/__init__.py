"""Adapters: one file or folder for each framework; each records its agents in one trace protocol."""

import lazy_loader

if __name__ != "agentmut.adapters":  # a second copy under another name would break isinstance checks
    raise ImportError(
        "import agentmut.adapters, not adapters: the project's root folders are mapped into the package"
    )

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
