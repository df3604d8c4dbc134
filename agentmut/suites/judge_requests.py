"""What the judges of a suite ask of models: no part of the agent's run, but of the budget."""

from collections.abc import Iterator
from contextlib import contextmanager

from agentmut.nouns import Step
from agentmut.recording import Recorder, Trial, running
from agentmut.wire import steps_from_exchanges


def judge_of(trial: Trial) -> Trial:
    """A trial of the judge's own: its model requests are seen, and pass as they are."""
    return Trial(id=f"{trial.id}-judge", seed=trial.seed)


def asked(judge: Recorder) -> Iterator[Step]:
    """The model calls that a judge made, for what they cost; what was said is nobody's affair."""
    for step in steps_from_exchanges(judge.exchanges, with_tools=False):
        yield step.model_copy(update={"output": None})


@contextmanager
def judging(trial: Trial) -> Iterator[None]:
    """While code runs that judges a trial. What is the agent's in there has to say so; see `trial.belonging`."""
    judge = judge_of(trial)
    try:
        with running(judge):
            yield
    finally:
        trial.recorder.judging += asked(judge.recorder)
