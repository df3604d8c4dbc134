"""What a server may say of its faults: requests that cannot be read are quoted nowhere."""

import logging

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError


def server_log(name: str) -> logging.Logger:
    """Return the logger for faults of a server; it ignores clients that close connections or send unreadable HTTP."""
    logger = logging.Logger(name)
    logger.addFilter(_is_worth_saying)
    return logger


def _is_worth_saying(record: logging.LogRecord) -> bool:
    """Return whether to log a record: unreadable HTTP is not logged, because it quotes headers with credentials."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, ConnectionError | HttpProcessingError | web.RequestPayloadError)
