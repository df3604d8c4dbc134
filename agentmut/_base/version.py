"""The version of agentmut that is running."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("agentmut")
except PackageNotFoundError:  # an uninstalled checkout on sys.path
    __version__ = "0+uninstalled"
