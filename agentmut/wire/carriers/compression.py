"""Compressed bodies."""

import asyncio
import zlib
from collections.abc import Callable, Iterator

PACKED = frozenset({"gzip", "x-gzip", "deflate"})
"""Content encodings that can be read."""
LARGEST_PACKED = 64 * 2**20
"""Bytes of a request's body once it is unpacked. A megabyte on the wire may stand for a thousand of them; it is twice
what services take of a request."""
_BEGINNING = b"\x1f\x8b"
"""How what gzip packed begins."""
_EITHER = 32 + zlib.MAX_WBITS
"""Tells gzip from zlib by the beginning."""
_TAKEN = 64 * 2**10
"""Packed bytes that are unpacked at a time."""
_GIVEN = 2**20
"""Unpacked bytes between two turns of other tasks, at most."""


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


def unpacked(body: bytes, most: int = LARGEST_PACKED) -> bytes:
    """Return a request's body, decompressed if it is gzip.

    Raises `PackingError` where more than `most` bytes come of it, and for what is not one whole gzip.
    """
    return b"".join(_pieces(body, most)) if is_packed(body) else body


async def unpacked_in_turns(body: bytes, most: int = LARGEST_PACKED) -> bytes:
    """Return what `unpacked` returns, and raise what it raises; other tasks have their turns meanwhile."""
    if not is_packed(body):
        return body
    pieces = []
    for piece in _pieces(body, most):
        pieces.append(piece)
        await asyncio.sleep(0)
    return b"".join(pieces)


def is_packed(body: bytes) -> bool:
    """Return whether a request's body is gzip."""
    return body.startswith(_BEGINNING)


def _pieces(body: bytes, most: int) -> Iterator[bytes]:
    """Yield what comes of a whole gzip, piece by piece. Raises `PackingError`."""
    unpack, given = zlib.decompressobj(_EITHER), 0
    for start in range(0, len(body), _TAKEN):
        left = body[start : start + _TAKEN]
        while left:
            if unpack.eof:
                raise PackingError("it goes on behind the end of the gzip")
            try:
                piece = unpack.decompress(left, _GIVEN)
            except zlib.error as error:
                raise PackingError("it begins like gzip, but is not") from error
            given += len(piece)
            if given > most:
                raise PackingError(f"it would be more than {most >> 20} MiB")
            yield piece
            left = unpack.unused_data or unpack.unconsumed_tail
    if not unpack.eof:
        raise PackingError("the gzip breaks off")
