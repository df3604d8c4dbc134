"""Describe in words what the suite lacks for a survivor.

The trace test is made for each survivor at its own level: among many, some are said to have changed by chance.
"""

from collections.abc import Iterable

from agentmut.nouns import BehaviourChange, MovedFeature, MutantRow
from agentmut.report.paint import clean
from agentmut.report.report_wording import counted, percent

LEVEL = 0.05
"""The level of the trace test of one survivor."""


def may_be_chance(row: MutantRow, rows: Iterable[MutantRow]) -> str:
    """Return why a survivor's change may be chance; empty where it stays clear among all compared survivors."""
    return doubts((row, *rows)).get(row.id, "")


def doubts(rows: Iterable[MutantRow]) -> dict[str, str]:
    """Return the doubts about each survivor whose behaviour seems changed.

    Left out are those whose change is one among all survivors compared as well: at the same level, with the false
    discovery rate controlled (Benjamini, Hochberg).
    """
    from agentmut.stats import Correction, adjust

    compared = {each.id: each.behaviour for each in rows if each.behaviour is not None}
    changed = [id for id, change in compared.items() if change.changed]
    if not changed:
        return {}
    adjusted = adjust([change.p for change in compared.values()], LEVEL, Correction.BENJAMINI_HOCHBERG)
    kept = {id for id, rejected in zip(compared, adjusted.rejected, strict=True) if rejected}
    verb = "is" if len(changed) == 1 else "are"
    said = (
        f"That may be chance: of {counted(len(compared), 'survivor')} compared, {len(changed)} {verb} said to have "
        f"changed, and about {LEVEL * len(compared):.1f} would be if none had (one in twenty)."
    )
    return {id: said for id in changed if id not in kept}


def gap_in_words(row: MutantRow, doubt: str = "") -> list[str]:
    """Return the outcome of the trace test on a survivor; empty without a test.

    `doubt`: why its change may be none.
    """
    change = row.behaviour
    if change is None:
        return []
    if change.changed:
        changed = "seems to have changed" if doubt else "has changed"
        return [
            f"Its behaviour {changed}, and no evaluator looks at that: the gap is an assertion{_if_gap(row)}",
            f"On {clean(change.scenario)}, {clean(change.feature)} ({_p(change.p)} over all its scenarios, by "
            f"the first {change.trials} runs).",
            *(_counted(each) for each in change.shown),
            *([doubt] if doubt else []),
        ]
    seen = f"by the first {change.trials} runs, {_p(change.p)} over all its scenarios"
    if change.changed is False:
        return [
            f"Its behaviour on these scenarios is as before ({seen}): the gap is a scenario{_if_gap(row)}",
            f"These runs show, with a chance of 0.9, what is new in {_percent(change.visible)} of its runs of a "
            f"scenario or more{_or_lost(change)}. Rarer changes may be there.",
        ]
    return [
        f"No change of its behaviour was found ({seen}). That does not prove that there is none.",
        *_coarse(row),
    ]


def _counted(moved: MovedFeature) -> str:
    before, now = f"{moved.baseline_runs} of {moved.baseline_of}", f"{moved.runs} of {moved.of}"
    return f"  {clean(moved.words)}: in {before} runs of the original and in {now} of the mutant."


def _or_lost(change: BehaviourChange) -> str:
    """Say how frequent in the original's runs the things are whose loss would be noticed."""
    if change.losable is None:
        return ""
    return f", and the loss of what {_percent(change.losable)} of the original's runs show"


def _p(value: float) -> str:
    return f"p = {value:.3f}" if value >= 0.001 else "p < 0.001"


def _if_gap(row: MutantRow) -> str:
    return "." if row.gap else ", if it matters at all."


def _coarse(row: MutantRow) -> list[str]:
    change = row.behaviour
    if change is None or change.visible is None:
        return []
    visible = change.visible
    return [
        f"So few runs show, with a chance of 0.9, what is new in {_percent(visible)} of them or more"
        f"{_or_lost(change)}. Rarer changes may be there: a larger `statistics.baseline` shows more."
    ]


def _percent(share: float | None) -> str:
    return "no share" if share is None else percent(share)
