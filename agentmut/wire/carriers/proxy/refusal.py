"""Replies of the proxy itself to a client, in the client's dialect."""

from aiohttp import web

from agentmut.nouns import Codec
from agentmut.wire.codecs import codec_for
from agentmut.wire.dialects.chat.chat_completions import ChatCompletions


class RefusalError(Exception):
    """The proxy does not pass a request on."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


def refused(refusal: RefusalError, path: str) -> web.Response:
    """Return the answer to a request for `path` that is not passed on."""
    return error_response(codec_for(path) or ChatCompletions(), refusal.status, str(refusal), refusal.code)


def error_response(codec: Codec, status: int, message: str, code: str) -> web.Response:
    """Return an error in the form of the service."""
    body = codec.encode_error(status, f"agentmut proxy: {message}", code)
    return web.Response(status=status, body=body, content_type="application/json")
