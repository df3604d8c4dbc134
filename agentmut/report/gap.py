"""What a survivor lacks, in words."""

from agentmut.report.paint import clean
from agentmut.result import MutantRow


def gap_in_words(row: MutantRow) -> list[str]:
    """What the trace test says of a survivor; empty where there was none."""
    change = row.behaviour
    if change is None:
        return []
    if change.changed:
        return [
            f"Its behaviour has changed, and no evaluator looks at that: the gap is an assertion{_if_gap(row)}",
            f"On {clean(change.scenario)}, {clean(change.feature)} (p = {change.p:.2g} over all its scenarios, by "
            f"the first {change.trials} runs).",
        ]
    seen = f"by the first {change.trials} runs, p = {change.p:.2g} over all its scenarios"
    if change.changed is False:
        return [
            f"Its behaviour on these scenarios is as before ({seen}): the gap is a scenario{_if_gap(row)}",
            f"Something new that shows in {_percent(change.visible)} of its runs of a scenario would have been "
            "noticed with a chance of 0.9; what is rarer may be there.",
        ]
    return [
        f"No change of its behaviour was found ({seen}), which is no proof that there is none.",
        *_coarse(row),
    ]


def _if_gap(row: MutantRow) -> str:
    return "." if row.gap else ", if it matters at all."


def _coarse(row: MutantRow) -> list[str]:
    visible = row.behaviour.visible if row.behaviour else None
    if visible is None:
        return []
    return [
        f"With so few runs only something that shows in {_percent(visible)} of them would be noticed with a "
        "chance of 0.9. A larger `statistics.baseline` sees more."
    ]


def _percent(share: float | None) -> str:
    return "no share" if share is None else f"{share:.0%}".replace("%", " %")
