"""The known dialects, and the choice of the dialect of a request."""

from collections.abc import Callable
from functools import cache

from agentmut._base import PluginError, one_line
from agentmut.nouns import Codec
from agentmut.seams import Group, load_all


@cache
def all_codecs() -> tuple[Codec, ...]:
    """Return every installed codec, loaded once; codecs of third parties come first, so that they take precedence.

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
    """Return the codec of a request to this URL path; None if it is no request to a model."""
    return next((codec for codec in all_codecs() if codec.matches(path)), None)
