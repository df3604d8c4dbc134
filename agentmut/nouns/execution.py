"""One run of one agent, and its value as evidence about the agent."""

from enum import StrEnum

from agentmut._base import Frozen
from agentmut.nouns.cassette import Take
from agentmut.nouns.footprints import Footprint
from agentmut.nouns.trace import AgentTrace, Outcome, Step


class Ending(StrEnum):
    """How a run ended, before its answer is judged."""

    ANSWERED = "answered"
    RAISED = "raised"
    """The agent's own exception: a failure."""
    EMPTY_ANSWER = "empty_answer"
    """A model replied or a tool was called, yet nothing was answered: a failure."""
    TIMEOUT = "timeout"
    INFRASTRUCTURE = "infrastructure"
    REFUSED = "refused"
    """The model service refused a request as invalid or unauthorised."""
    SETUP_FAILED = "setup_failed"
    UNBUILDABLE = "unbuildable"
    """The agent could not be built from its config."""
    EMPTY_RUN = "empty_run"
    CASE_ERROR = "case_error"
    """The code of the suite's case went wrong, not the agent."""
    NOT_JUDGED = "not_judged"
    """A model that judges could not be asked, or gave no judgement."""
    CUT = "cut"
    """The budget in money was used up while it ran: its next model call was not sent."""

    @property
    def outcome(self) -> Outcome | None:
        """Return the trial's outcome; None if the answer has to be judged first."""
        return _OUTCOMES.get(self)

    @property
    def is_retryable(self) -> bool:
        """Return whether another attempt makes sense: the run is no evidence about the agent, and may still pass."""
        return self in (Ending.INFRASTRUCTURE, Ending.EMPTY_RUN)

    @property
    def is_evidence(self) -> bool:
        """Return whether the run is evidence about the agent, perhaps only once its answer is judged."""
        return self.outcome is None or self.outcome.is_evidence

    @property
    def is_final(self) -> bool:
        """Return whether a later run may reuse the trial; a trial that may end differently is run again."""
        return self.is_evidence


_OUTCOMES = {
    Ending.RAISED: Outcome.FAIL,
    Ending.EMPTY_ANSWER: Outcome.FAIL,
    Ending.TIMEOUT: Outcome.TIMEOUT,
    Ending.INFRASTRUCTURE: Outcome.INFRASTRUCTURE,
    Ending.REFUSED: Outcome.PRE_VALIDATION,
    Ending.SETUP_FAILED: Outcome.PRE_VALIDATION,
    Ending.UNBUILDABLE: Outcome.PRE_VALIDATION,
    Ending.EMPTY_RUN: Outcome.EMPTY_RUN,
    Ending.CASE_ERROR: Outcome.PRE_VALIDATION,
    Ending.NOT_JUDGED: Outcome.NOT_JUDGED,
    Ending.CUT: Outcome.CUT,
}


class Execution(Frozen):
    """A finished run: its ending, its trace, and its requests."""

    ending: Ending
    reason: str = ""
    trace: AgentTrace = AgentTrace()
    footprint: Footprint = Footprint()
    attempts: int = 1
    takes: tuple[Take, ...] = ()
    """What the agent asked of models and was given, where trials are recorded."""
    judging: tuple[Step, ...] = ()
    """What the judges of a suite that judges its own runs asked of models. Not stored: it is counted once."""
    hooks: tuple[Step, ...] = ()
    """What the scenario's setup and teardown asked of models. Not stored: it is counted once."""
    abandoned: bool = False
    """A thread of the run was still at work when it was given up."""

    @property
    def never_began(self) -> str:
        """Return the type of the exception that ended it before any model reply or tool call; empty otherwise.

        A key, a server or a package may be missing: such a run may end otherwise as soon as it is there.
        """
        if self.ending is not Ending.RAISED:
            return ""
        seen = self.footprint.requests or self.footprint.lost or self.trace.began
        return "" if seen else self.reason.partition(":")[0]

    @property
    def unpriced_models(self) -> frozenset[str]:
        """Return the models of the agent, or the suite's judges, whose price is unknown."""
        models = self.trace.unpriced_models
        if not self.judging:
            return models
        return models.union(step.model or "" for step in self.judging if step.usd is None)
