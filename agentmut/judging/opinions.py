"""Keep the replies of model judges, so that no question is paid for twice."""

import threading
from collections.abc import Callable
from concurrent.futures import Future

from agentmut._base import Frozen, digest_of, storable_json
from agentmut.judging.judge_client import JudgeClient, Patience, Question, Reply
from agentmut.nouns import JudgeModel, JudgeSpend, OpinionCache, Usage


class MemoryCache:
    """A cache that ends with the process."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def find(self, key: str) -> str | None:
        """Return the reply with this key; None if there is none."""
        return self._kept.get(key)

    def keep(self, key: str, reply: str) -> None:
        """Keep a reply."""
        self._kept[key] = reply


class Consultation:
    """Asks one model, remembers its usable replies, and counts the cost. Safe for threads.

    Equal questions are put once for each `repeat`, also while the first is under way.
    """

    def __init__(self, model: JudgeModel, patience: Patience, cache: OpinionCache) -> None:
        self._model = model
        self._client = JudgeClient(model, patience)
        self._cache = cache
        self._lock = threading.Lock()
        self._under_way: dict[str, Future[None]] = {}
        self._seen: set[str] = set()
        self._spend = JudgeSpend()

    @property
    def spend(self) -> JudgeSpend:
        """Return what was spent so far."""
        with self._lock:
            return self._spend

    def ask(self, question: Question, repeat: int, usable: Callable[[Reply], bool]) -> Reply:
        """Return the `repeat`-th opinion. An opinion that is not `usable` is returned, but not kept.

        Raises like `JudgeClient.ask`, also where an equal question that was under way got no reply.
        """
        key = digest_of([str(self._model), *question, repeat])
        while (turn := self._turn(key)) is not None:
            turn.result()  # else ten equal questions would wait ten times as long for a service that is silent
        try:
            reply = self._kept_or_asked(key, question, usable)
        except BaseException as error:
            self._end_turn(key).set_exception(error)
            raise
        self._end_turn(key).set_result(None)
        return reply

    def _turn(self, key: str) -> "Future[None] | None":
        """Return the turn of an equal question that is under way; without one, begin a turn and return None."""
        with self._lock:
            turn = self._under_way.get(key)
            if turn is None:
                self._under_way[key] = Future()
            return turn

    def _end_turn(self, key: str) -> "Future[None]":
        with self._lock:
            return self._under_way.pop(key)

    def _kept_or_asked(self, key: str, question: Question, usable: Callable[[Reply], bool]) -> Reply:
        kept = self._cache.find(key)
        if kept is not None:
            return self._reused(key, kept)
        reply = self._client.ask(question)
        self._count(key, reply.usage)
        if usable(reply):
            self._cache.keep(key, storable_json(_StoredOpinion(value=reply.value, text=reply.text)))
        return reply

    def _count(self, key: str, usage: Usage) -> None:
        with self._lock:
            self._seen.add(key)
            asked = self._spend.questions + 1
            self._spend = self._spend.model_copy(
                update={"questions": asked, "usage": self._spend.usage + usage}
            )

    def _reused(self, key: str, kept: str) -> Reply:
        opinion = _StoredOpinion.model_validate_json(kept)
        with self._lock:
            if key not in self._seen:  # else it was asked for, and counted, by this one
                self._seen.add(key)
                self._spend = self._spend.model_copy(update={"reused": self._spend.reused + 1})
        return Reply(opinion.value, opinion.text, Usage())


class _StoredOpinion(Frozen):
    value: dict[str, object] | None
    text: str
