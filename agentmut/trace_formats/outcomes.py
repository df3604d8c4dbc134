"""What names a recorded run's scenario, and which of its scores says whether it passed."""

import math
from collections.abc import Iterator, Mapping, Sequence

from agentmut._base import PassScore, UsageError, nearest, passes, score_reason
from agentmut.nouns import Check, ForeignTrial, RecordedScore

EVALUATORS = "evaluators"
"""The `outcome` of runs that evaluators of agentmut alone judge."""


class Places:
    """How messages name the settings: `suite.traces.outcome` of a project, or `--outcome` of a command."""

    def __init__(self, prefix: str, scenario_by: str = "") -> None:
        dashed = prefix == "--"
        self.scenario_by = scenario_by or prefix + ("scenario-by" if dashed else "scenario_by")
        self.outcome = prefix + "outcome"
        self.pass_score = prefix + ("pass-score" if dashed else "pass_score")


def scenario_of(trial: ForeignTrial, field: str | None, places: Places) -> str:
    """Return a run's scenario: the value of a field, else what it was imported as, else the case of the format.

    Raises `UsageError`. Names of fields may have dots themselves, as `session.id` has.
    """
    if field is None:
        return trial.imported_as.scenario if trial.imported_as else trial.scenario
    value, rest = trial.fields, field
    while True:
        if rest in value:
            return str(value[rest])
        known = value
        part, _, rest = rest.partition(".")
        deeper = value.get(part)
        if not isinstance(deeper, Mapping) or not rest:
            raise UsageError(
                f"{places.scenario_by}: the record in {trial.place} has no field {field!r}. {nearest(part, known)}"
            )
        value = deeper


def deciding_score(
    trials: Sequence[ForeignTrial], wanted: str | None, least: PassScore, places: Places
) -> str:
    """Return the name of the score that decides; empty where evaluators alone do.

    Raises `UsageError` for an unknown score, several scores of which none is `wanted`, and a number without a least
    score that passes.
    """
    scores = least.values() if isinstance(least, dict) else () if least is None else (least,)
    if not all(map(math.isfinite, scores)):
        raise UsageError(f"{places.pass_score}: {least} is no number that a score can reach.")
    known = {name for trial in trials for name in trial.scores}
    if wanted == EVALUATORS or (wanted is None and not known):
        return ""
    if wanted is None and len(known) > 1:
        raise UsageError(
            f"{places.outcome}: is missing, and the records have several scores. {nearest('', known)}"
        )
    name = next(iter(known)) if wanted is None else wanted
    if name not in known:
        raise UsageError(
            f"{places.outcome}: no record has the score {name!r}. {nearest(name, {*known, EVALUATORS})}"
        )
    unclear = next((t for t in trials if name in t.scores and passed_by(t, name, least) is None), None)
    if unclear is not None:
        raise UsageError(
            f"{places.pass_score}: is missing: {name} is {unclear.scores[name].value!r} in {unclear.place}, which is "
            "neither yes nor no. Give the least score that passes"
        )
    return name


OUTCOME = "outcome"
"""The name of the one score that decides where runs of several tools are judged together."""


def decided(trial: ForeignTrial, name: str, least: PassScore) -> ForeignTrial:
    """Return a run with its deciding score under the name `outcome`; without it if the run has no such score."""
    if name not in trial.scores:
        return trial
    passed, reason = passed_by(trial, name, least), trial.scores[name].reason
    said = reason or score_reason(trial.scores[name].value, name, least)
    return trial.model_copy(
        update={"scores": {**trial.scores, OUTCOME: RecordedScore(value=bool(passed), reason=said)}}
    )


def passed_by(trial: ForeignTrial, name: str, least: PassScore) -> bool | None:
    """Return whether a run passed by one of its scores; None where the score is neither yes nor no."""
    return passes(trial.scores[name].value, name, least)


def checks_of(trial: ForeignTrial, least: PassScore) -> Iterator[Check]:
    """Yield the recorded scores that say yes or no."""
    for name, score in trial.scores.items():
        passed = passed_by(trial, name, least)
        if passed is not None:
            yield Check(
                evaluator=name, passed=passed, reason=score.reason or score_reason(score.value, name, least)
            )


def why_left_out(trial: ForeignTrial, outcome: str) -> str:
    """Return why a run is no evidence: its record says so, or the deciding score is missing."""
    missing = bool(outcome) and outcome not in trial.scores
    lacking = "no score that decides" if outcome == OUTCOME else f"no score {outcome}"
    return trial.no_evidence or (f"it has {lacking}" if missing else "")
