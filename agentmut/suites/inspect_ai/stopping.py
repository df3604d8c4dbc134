"""Sequential stopping for evals of inspect_ai: a sample's epochs end as soon as its pass rate is decided."""

from dataclasses import dataclass, field
from math import isnan
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from agentmut._base import PassScore, UsageError, read_pass_score
from agentmut.stats import Boundaries, SprtDesign, Verdict
from agentmut.suites.inspect_ai.score_verdict import judged

if TYPE_CHECKING:
    from inspect_ai.dataset import Sample
    from inspect_ai.log import EvalSpec
    from inspect_ai.scorer import SampleScore
    from inspect_ai.util import EarlyStop

SampleId = str | int


@dataclass
class _Epochs:
    """The epochs of one sample, in launch order."""

    outcomes: dict[int, bool | None] = field(default_factory=dict)
    """None while an epoch runs, of one without a score, and of one that ended with an error: inspect_ai does not
    report those.
    """
    decided: tuple[Verdict, int, int] | None = None
    """The verdict, with the trials and failures that it is based on."""


class SequentialStopping:
    """Stops the epochs of a task: `Task(..., epochs=50, early_stopping=SequentialStopping(threshold=0.9))`.

    Each sample has a sequential probability ratio test of its own (see `agentmut.stats`): FAIL is evidence of a pass
    rate below `threshold`, PASS of one above `threshold - margin`, with chances of error of at most `alpha` and
    `beta` for each sample. Once it is decided, the epochs that are left are not run. A trial passes when all of its
    scores do: correct ones, and numbers from `pass_score` on.

    Outcomes count in the order in which epochs were launched, so that quick ones do not come first. One that is not
    known yet, or never will be because the epoch ended with an error or without a score, may be a pass as well as a
    failure: nothing is decided by how it ends. Epochs that run at the same time save nothing; set `max_samples` low
    for more savings.

    Rates that inspect_ai reports of epochs stopped early are biased; the verdicts, in the log under
    `results.early_stopping.metadata`, are not. Raises `ValueError` for what no test can be built from.
    """

    def __init__(
        self,
        threshold: float,
        *,
        margin: float = 0.10,
        alpha: float = 0.05,
        beta: float = 0.10,
        pass_score: PassScore = None,
        boundaries: Boundaries = "strict",
    ) -> None:
        self.design = SprtDesign(threshold, margin, alpha, beta, None, boundaries)
        self._pass_score = read_pass_score(pass_score)
        self._samples: dict[SampleId, _Epochs] = {}

    async def start_task(self, task: "EvalSpec", samples: list["Sample"], epochs: int) -> str:
        """Forget earlier tasks."""
        self._samples = {}
        return "agentmut SPRT"

    async def schedule_sample(self, id: SampleId, epoch: int) -> "EarlyStop | None":
        """Let the epoch run, unless the sample is decided."""
        from inspect_ai.util import EarlyStop

        epochs = self._samples.setdefault(id, _Epochs())
        if epochs.decided is None:
            epochs.outcomes[epoch] = None
            return None
        verdict, n, failures = epochs.decided
        said = f"{verdict.value} after {n} epochs, {failures} of them failed"
        return EarlyStop(id=id, epoch=epoch, reason=said, metadata={"verdict": verdict.value})

    async def complete_sample(self, id: SampleId, epoch: int, scores: dict[str, "SampleScore"]) -> None:
        """Count the outcome. An outcome without a score, or with an open one (NaN), is none.

        Raises `UsageError` for scores that neither pass nor fail.
        """
        epochs = self._samples.setdefault(id, _Epochs())
        values = {name: score.score.value for name, score in scores.items()}
        known = bool(values) and not any(isinstance(one, float) and isnan(one) for one in values.values())
        epochs.outcomes[epoch] = all(self._passed(*one) for one in values.items()) if known else None
        if epochs.decided is None:
            epochs.decided = self._decision(list(epochs.outcomes.values()))

    async def complete_task(self) -> dict[str, JsonValue]:
        """Return the verdict on each sample, INCONCLUSIVE if the epochs were too few; and the test's design."""
        design = self.design
        return {
            "design": {
                "threshold": design.threshold,
                "margin": design.margin,
                "alpha": design.alpha,
                "beta": design.beta,
                "boundaries": design.boundaries,
            },
            "samples": {str(id): self._epochs_document(epochs) for id, epochs in self._samples.items()},
        }

    def _decision(self, outcomes: list[bool | None]) -> tuple[Verdict, int, int] | None:
        """Return the first decision that holds however the unknown outcomes end."""
        failed = unknown = 0
        for n, passed in enumerate(outcomes, 1):
            failed += passed is False
            unknown += passed is None
            if self.design.decide(n, failed) is Verdict.FAIL:
                return Verdict.FAIL, n, failed
            if self.design.decide(n, failed + unknown) is Verdict.PASS:
                return Verdict.PASS, n, failed
        return None

    def _passed(self, name: str, value: Any) -> bool:
        found = judged(value, name, self._pass_score)
        if found is None:
            raise UsageError(
                f"the scorer {name} gives {value!r}, which is neither correct nor incorrect: give SequentialStopping "
                "a pass_score, the least score that passes"
            )
        return found[0]

    def _epochs_document(self, epochs: _Epochs) -> JsonValue:
        known = [outcome for outcome in epochs.outcomes.values() if outcome is not None]
        verdict, n, failures = epochs.decided or (Verdict.INCONCLUSIVE, len(known), known.count(False))
        return {"verdict": verdict.value, "epochs": n, "failures": failures, "run": len(epochs.outcomes)}
