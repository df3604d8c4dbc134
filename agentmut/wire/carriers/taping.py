"""Records one request of an agent, and what it was given, on the tape of its trial."""

from agentmut.nouns import Codec, HttpCall, Take, take
from agentmut.recording import Recorder


class Taping:
    """One take. A stream may be told of several times, as it goes on; the last word counts.

    Does nothing for a trial that is not recorded.
    """

    def __init__(self, recorder: Recorder, codec: Codec, asked: HttpCall) -> None:
        self._takes = recorder.takes
        self._codec = codec
        self._asked = asked
        self._mine: Take | None = None

    def given(self, status: int, body: bytes) -> None:
        """The agent was given this."""
        if self._takes is not None:
            self._put(take(self._asked, status, self._content_type(body), body))

    def refused(self, status: int) -> None:
        """The agent was told so, in the service's words."""
        if self._takes is not None:
            words = self._codec.encode_error(status, "as recorded", "recorded")
            self._put(take(self._asked, status, self._codec.content_type(stream=False), words))

    def failed(self) -> None:
        """The agent was given no complete answer."""
        if self._takes is not None:
            self._put(take(self._asked, None, "", b""))

    def _content_type(self, body: bytes) -> str:
        return self._codec.content_type(stream=body.lstrip()[:1] not in (b"{", b"["))

    def _put(self, new: Take) -> None:
        takes = self._takes
        assert takes is not None
        if self._mine is None:
            takes.append(new)
        else:
            takes[next(i for i, found in enumerate(takes) if found is self._mine)] = new
        self._mine = new
