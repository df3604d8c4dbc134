"""agentmut: if my agent silently got worse, would my tests notice?

The core imports no agent framework and no scientific library; importing this package is cheap.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("agentmut")
except PackageNotFoundError:  # an uninstalled checkout on sys.path
    __version__ = "0+uninstalled"

__all__ = ["__version__"]
