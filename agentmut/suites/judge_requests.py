"""The model requests of a suite's judges: they count for the budget, not as the agent's run."""

from collections.abc import Iterator
from contextlib import contextmanager

from agentmut.nouns import Step
from agentmut.recording import Recorder, Trial, running
from agentmut.wire import steps_from_exchanges


def judge_of(trial: Trial) -> Trial:
    """Return a separate trial for the judge: its model requests are recorded and pass unchanged."""
    return Trial(id=f"{trial.id}-judge", seed=trial.seed)


def judge_steps(judge: Recorder) -> Iterator[Step]:
    """Yield the model calls that a judge made, without their outputs: only the cost counts."""
    for step in steps_from_exchanges(judge.exchanges, with_tools=False):
        yield step.model_copy(update={"output": None})


@contextmanager
def judging(trial: Trial) -> Iterator[None]:
    """Record requests as the judge's in this context. The agent's requests must say so; see
    `trial.belonging`.
    """
    judge = judge_of(trial)
    try:
        with running(judge):
            yield
    finally:
        trial.recorder.judging += judge_steps(judge.recorder)
