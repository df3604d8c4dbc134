"""The dialects that are known, and which one a request speaks."""

from functools import cache

from agentmut.plugins import Group, load_all
from agentmut.wire.codec import Codec


@cache
def all_codecs() -> tuple[Codec, ...]:
    """Every installed codec, loaded once; those of third parties come first, as they were installed to be used.

    Raises `PluginError` for one that cannot be loaded or has not the signature of its seam.
    """
    made: list[Codec] = [plugin() for plugin in load_all(Group.CODECS).values()]
    return tuple(sorted(made, key=lambda codec: type(codec).__module__.startswith("agentmut.")))


def codec_for(path: str) -> Codec | None:
    """The codec of a request to this URL path; None where it is no request to a model."""
    return next((codec for codec in all_codecs() if codec.matches(path)), None)
