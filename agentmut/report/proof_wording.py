"""Sentences on what the trials prove about one mutant, a small group of mutants, or the whole run."""

from collections.abc import Iterable, Iterator, Mapping

from agentmut.nouns import MutantRow, Result, Score, Status
from agentmut.report.report_wording import counted, interval, percent

FEW = 5
"""Groups with fewer mutants have counts and no interval: one survivor alone makes the interval reach 1."""
GRADES = ("certain", "strong", "moderate")
GRADES_MEAN = (
    "Certain: all kills of this grade are real, with 95 % confidence. Strong: such evidence kills an unchanged "
    "mutant with a chance of at most 0.01. Moderate: with the chance that the kill rule allows."
)
FEW_MEANS = (
    f"A group of fewer than {FEW} mutants has no interval. It shows how many of its mutants were killed, with the "
    "weakest grade of these kills; of harmless changes, how many survived."
)


def group_score(score: Score, *, harmless: bool = False) -> str:
    """Return value and bounds of a group; for fewer than five mutants, the number killed and their grades.

    Of harmless changes it is how many survived, since robustness is the share of these.

    >>> group_score(Score(value=0.25, low=0.0, high=0.75, killed=1, survived=3, strong=1))
    '1 of 4 (strong)'
    >>> group_score(Score(value=1.0, low=0.33, high=1.0, survived=3), harmless=True)
    '3 of 3'
    >>> group_score(Score(value=0.5, low=0.25, high=0.75, killed=4, survived=4))
    '0.50 [0.25, 0.75]'
    """
    if score.value is None or not is_few(score):
        return interval(score)
    if harmless:
        return f"{score.survived} of {_reached(score)}"
    weakest = next((grade for grade in reversed(GRADES) if getattr(score, grade)), "")
    return f"{score.killed} of {_reached(score)}" + (f" ({weakest})" if weakest else "")


def visible_line(result: Result) -> str:
    """Return the second figure beside the score, in a sentence; empty where it is not known, or nothing changed."""
    seen = result.visible_changes
    if seen is None or seen.share is None:
        return ""
    changed = counted(seen.noticed + seen.unnoticed, "mutant")
    open_ = f"; whether {seen.unknown} more changed it is unknown" if seen.unknown else ""
    return f"Of {changed} that visibly changed behaviour, the suite noticed {seen.noticed} ({seen.share:.2f}){open_}."


def is_graded(score: Score) -> bool:
    """Return whether kills have grades: they do not in results of earlier versions."""
    return any(getattr(score, grade) for grade in GRADES)


def is_few(score: Score) -> bool:
    """Return whether a group has too few mutants for an interval, and at least one."""
    return 0 < _reached(score) < FEW


def proof(row: MutantRow, rule: Mapping[str, float]) -> str:
    """Return what the trials of a mutant prove, in a sentence; empty where it is not decided, or not known."""
    if row.status is Status.KILLED and row.grade and row.p_value is not None:
        return (
            f"The kill is {row.grade}: an unchanged mutant is killed on evidence as strong with chance "
            f"{row.p_value:.2g} at most."
        )
    if row.status is Status.SURVIVED and row.ruled_out is not None:
        sure = f", each with confidence {1 - rule['beta']:.2g}" if "beta" in rule else ""
        return (
            f"Every scenario that it was tried on rules out a drop of {row.ruled_out:g} or more{sure}."
            f"{_on_the_others(row)}"
        )
    return ""


def _on_the_others(row: MutantRow) -> str:
    """Say how many scenarios may have a drop where only a sample of them was tried."""
    if not row.reached or row.may_have_drop is None:
        return ""
    share = percent(row.may_have_drop / row.reached)
    tried = f"{len(row.evidence)} of the {row.reached} that reach it"
    return f" These are {tried}, and at most {share} of all have such a drop (95 %)."


def ruled_out(rows: Iterable[MutantRow]) -> float | None:
    """Return the drop that every survivor of the group rules out; None where they differ or it is unknown."""
    drops = {row.ruled_out for row in rows if row.status is Status.SURVIVED}
    return drops.pop() if len(drops) == 1 else None


def kill_grade(row: MutantRow) -> str:
    """Return the grade and p-value of a kill in a few characters; empty where they are not known.

    >>> kill_grade(MutantRow.model_construct(grade="strong", p_value=0.00359))
    'strong, p 0.0036'
    """
    return f"{row.grade}, p {row.p_value:.2g}" if row.grade and row.p_value is not None else ""


def claimed_drop(score: Score, rule: Mapping[str, float]) -> float | None:
    """Return the drop of a pass rate that the upper end of a score speaks of; None in results without a kill rule."""
    return score.resolution or rule.get("delta")


def for_drops(score: Score) -> str:
    """Return the drops that a score with rounds covers, as words behind the score; empty without rounds.

    >>> for_drops(Score(value=0.5, low=0.4, high=0.6, resolution=0.5))
    ' for drops of 0.5 or more'
    """
    return f" for drops of {score.resolution:g} or more" if score.resolution else ""


def proven(score: Score, rule: Mapping[str, float]) -> Iterator[str]:
    """Yield sentences on what all kills and survivors of a run prove; none for results of earlier versions."""
    if score.not_drawn:
        tried = counted(score.killed + score.survived + score.undecided + score.untestable, "mutant")
        yield f"{tried} drawn at random speak for {score.not_drawn} others, which were not tried."
    graded = [f"{getattr(score, grade)} {grade}" for grade in GRADES if getattr(score, grade)]
    if graded:
        yield f"Kills: {', '.join(graded)}."
    drop = claimed_drop(score, rule)
    ends = ", and ".join(_ends(score, f"a drop of {drop:g} or more" if drop else "a drop"))
    if ends:
        yield f"{ends[0].upper()}{ends[1:]} ({50 + 50 * score.level:g} % each)."
    if score.certain and (score.false_kills or 0) > score.killed - score.certain:
        yield (
            "Certain kills may be among these: the grade holds with 95 %, this count with "
            f"{50 + 50 * score.level:g} %, by another test."
        )


def _ends(score: Score, drop: str) -> Iterator[str]:
    """Yield sentences on which kills and survivors each end of the interval takes for wrong."""
    if score.killed and score.false_kills is not None:
        most = f"at most {score.false_kills} of {counted(score.killed, 'kill')} may be false"
        yield most if score.false_kills else "no kill is false"
    if score.survived and score.missed is not None:
        most = f"at most {score.missed} of {counted(score.survived, 'survivor')} may hide {drop}"
        yield most if score.missed else f"no survivor hides {drop}"


def _reached(score: Score) -> int:
    return score.killed + score.survived + score.no_coverage + score.undecided
