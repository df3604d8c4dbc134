"""The dialects that are known, and which one a request speaks."""

from collections.abc import Callable
from functools import cache

from agentmut._base import PluginError, one_line
from agentmut.nouns import Codec
from agentmut.seams import Group, load_all


@cache
def all_codecs() -> tuple[Codec, ...]:
    """Return every installed codec, loaded once; those of third parties come first, as they were installed to be used.

    Raises `PluginError` for one that cannot be loaded or has not the signature of its seam.
    """
    made = [_built(name, plugin) for name, plugin in load_all(Group.CODECS).items()]
    return tuple(sorted(made, key=lambda codec: type(codec).__module__.startswith("agentmut.")))


def _built(name: str, plugin: Callable[[], Codec]) -> Codec:
    try:
        return plugin()
    except Exception as error:
        raise PluginError(
            f"the codec {name!r} cannot be built: {one_line(error)}. Fix or uninstall it."
        ) from error


def codec_for(path: str) -> Codec | None:
    """Return the codec of a request to this URL path; None where it is no request to a model."""
    return next((codec for codec in all_codecs() if codec.matches(path)), None)
