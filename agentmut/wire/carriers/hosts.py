"""Names that stand for this machine."""

import ipaddress
from functools import lru_cache


@lru_cache(maxsize=256)  # every request of the proxy names a host
def is_loopback(host: str) -> bool:
    """Return whether a host of a URL, without port, is this machine by its loopback name or address.

    >>> is_loopback("127.0.0.2"), is_loopback("[::1]"), is_loopback("127.0.0.1.example.com")
    (True, True, False)
    """
    name = host.removeprefix("[").removesuffix("]")
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
