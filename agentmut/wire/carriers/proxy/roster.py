"""The trial that a request belongs to."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from agentmut.recording import Trial
from agentmut.wire.carriers.proxy.refusal import RefusalError

KEPT_NAMES = 1_000
"""Names of ended trials that are told from unknown ones, and trials of a proxy that stands alone."""


class Roster(Protocol):
    """Knows the trials under way by the names that requests carry."""

    def trial(self, name: str | None) -> Trial:
        """Return the trial of a request with this name, or without a name. Raise `RefusalError`."""

    def attending(self, trial: Trial) -> AbstractContextManager[None]:
        """Return marks a request as the trial's while a block lasts."""


class AdmittedTrials:
    """The trials of a session: admitted one by one, and refused once they are over."""

    def __init__(self) -> None:
        self._names: dict[str, Trial] = {}
        self._over: dict[str, None] = {}
        self._tasks: dict[int, set[asyncio.Task[object]]] = {}

    @contextmanager
    def admitted(self, trial: Trial, *names: str) -> Iterator[None]:
        """Accept the trial under these names during the block; then end the requests that are still under way.

        Where several trials have a name, it is the latest one's. To be entered and left in the proxy's event loop,
        whose tasks it ends.
        """
        names = (trial.id, *names)
        self._names.update(dict.fromkeys(names, trial))
        self._tasks[id(trial)] = set()
        try:
            yield
        finally:
            for name in names:
                if self._names.get(name) is trial:
                    del self._names[name]
                    self._over[name] = None
            while len(self._over) > KEPT_NAMES:
                del self._over[next(iter(self._over))]
            for task in self._tasks.pop(id(trial)):
                task.cancel()

    def trial(self, name: str | None) -> Trial:
        """Return the trial with the name; without a name, the only admitted trial."""
        if name is None:
            return self._only()
        if name in self._names:
            return self._names[name]
        if name in self._over:
            raise RefusalError(410, "trial_over", f"trial {name} is over; its requests are refused")
        raise RefusalError(404, "unknown_trial", f"no trial {name} is under way")

    @contextmanager
    def attending(self, trial: Trial) -> Iterator[None]:
        """Have the request of this task end with the trial."""
        task, tasks = asyncio.current_task(), self._tasks.get(id(trial))
        if task is None or tasks is None:
            yield
            return
        tasks.add(task)
        try:
            yield
        finally:
            tasks.discard(task)

    def _only(self) -> Trial:
        trials = {id(trial): trial for trial in self._names.values()}
        if len(trials) == 1:
            return next(iter(trials.values()))
        if not trials:
            raise RefusalError(
                410, "trial_over", "no trial is under way; requests outside of trials are refused"
            )
        raise RefusalError(
            409,
            "which_trial",
            f"{len(trials)} trials are under way, and this request does not say which is its own. Have the agent pass "
            "the header x-agentmut-trial on, or run with `execution: {concurrency: 1}`.",
        )


class Everyone:
    """The roster of a proxy that stands alone: each name is a trial, and requests without a name share one trial."""

    def __init__(self, make: Callable[[str], Trial]) -> None:
        self._make = make
        self._trials: dict[str, Trial] = {}

    def trial(self, name: str | None) -> Trial:
        """Return the trial with this name; a new trial for a new name."""
        known = name or "proxy"
        if known not in self._trials:
            while len(self._trials) >= KEPT_NAMES:
                del self._trials[next(iter(self._trials))]
            self._trials[known] = self._make(known)
        return self._trials[known]

    @contextmanager
    def attending(self, trial: Trial) -> Iterator[None]:
        """Do nothing: no trial ends before the proxy does."""
        yield
