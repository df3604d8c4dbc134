"""What went wrong with a request, fit to be kept."""

import re

from agentmut._base import described

_URL = re.compile(r"\b([a-z][a-z0-9+.-]*://)(?:[^\s/?#'\"]*@)?([^\s?#'\"<>]*)[^\s'\"<>]*", re.IGNORECASE)


def without_url_secrets(error: BaseException) -> str:
    """`described`, with nothing of the URLs in it that may be secret: clients' errors quote them whole.

    >>> without_url_secrets(ValueError("no reply, url='http://me:pass@h/v1/g?key=abc'"))
    "ValueError: no reply, url='http://h/v1/g'"
    """
    return _URL.sub(r"\1\2", described(error))
