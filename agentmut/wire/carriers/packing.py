"""Compressed bodies."""

import zlib
from collections.abc import Callable

PACKED = frozenset({"gzip", "x-gzip", "deflate"})
"""Content encodings that can be read."""
_BEGINNING = b"\x1f\x8b"
"""How what gzip packed begins."""
_EITHER = 32 + zlib.MAX_WBITS
"""Tells gzip from zlib by the beginning."""


class PackingError(ConnectionError):
    """A body that cannot be unpacked, or that is too large."""


def unpacker(encoding: str, most: int) -> Callable[[bytes], bytes]:
    """Return a function that decompresses a body piece by piece. Raise `PackingError` for an unknown encoding.

    The function raises it where the body, unpacked, has more than `most` bytes; it unpacks no more than that.
    """
    name = encoding.strip().lower()
    given = 0

    def counted(piece: bytes, rest: bytes = b"") -> bytes:
        nonlocal given
        given += len(piece)
        if given > most or rest:
            raise PackingError(f"its reply is more than {most >> 20} MiB, the most that agentmut reads")
        return piece

    if name in ("", "identity"):
        return counted
    if name not in PACKED:
        raise PackingError(
            f"it is packed with {name!r}, which agentmut did not accept and cannot read; gzip it can"
        )
    unpack = zlib.decompressobj(_EITHER)

    def feed(piece: bytes) -> bytes:
        try:
            plain = unpack.decompress(piece, most - given + 1)
        except zlib.error as error:
            raise PackingError(f"it is said to be packed with {name!r}, but is not") from error
        return counted(plain, unpack.unconsumed_tail)

    return feed


def unpacked(body: bytes, most: int) -> bytes:
    """Return a request's body, decompressed if it is gzip.

    Raises `PackingError` where more than `most` bytes come of it.
    """
    if not body.startswith(_BEGINNING):
        return body
    unpack = zlib.decompressobj(_EITHER)
    try:
        plain = unpack.decompress(body, most)
    except zlib.error as error:
        raise PackingError("it begins like gzip, but is not") from error
    if unpack.unconsumed_tail:
        raise PackingError(f"it would be more than {most >> 20} MiB")
    return plain


def is_packed(body: bytes) -> bool:
    """Return whether a request's body is gzip."""
    return body.startswith(_BEGINNING)
