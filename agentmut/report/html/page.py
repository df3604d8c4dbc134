"""The page: one file that loads nothing, and whose policy lets nothing in."""

from typing import Any

from agentmut.nouns import OperatorClass, Result
from agentmut.report.html.annotated import annotated, documents, tally, tools
from agentmut.report.html.inline import cut, diff_of
from agentmut.report.html.mutant_pages import mutant_pages
from agentmut.report.html.mutant_rows import page_data, sayings
from agentmut.report.html.page_head import head_of
from agentmut.report.html.page_sections import (
    coverage_shape,
    kinds_of_changes,
    savings,
    scenario_lines,
    score_groups,
    status_counts,
)
from agentmut.report.html.templating import rendered
from agentmut.report.proof_wording import FEW_MEANS, GRADES_MEAN, is_few, is_graded, proven, visible_line
from agentmut.report.ranking import most_worrying_first, rank
from agentmut.report.reliability_wording import campaign_reliability
from agentmut.report.report_wording import confirming_line
from agentmut.report.view import Extra

CARDS = 15
"""Unnoticed changes that are written out; all others are in the list."""


def html_report(result: Result, extra: Extra | None = None, listed: frozenset[str] | None = None) -> str:
    """Return one HTML document with everything in it: style, script, charts and data.

    `listed` narrows the mutants that are listed, by id; all else stays that of the whole run.
    What models and users wrote is cleaned, cut and escaped. A Content-Security-Policy admits the one script and the
    one style of agentmut by their hashes, and no request.
    """
    extra = extra or Extra()
    said = sayings(result)
    rows = [row for row in most_worrying_first(result.mutants) if listed is None or row.id in listed]
    ranked = rank(rows)
    return rendered(
        "report.html",
        ("runs.js", "report.js"),
        **_content(result, extra),
        listed=len(rows),
        pages=mutant_pages(extra, [row.id for row in rows]),
        unnoticed=len(ranked),
        cards=[(row, diff_of(row, result.sources, 800), said.sentences_on(row)) for row in ranked[:CARDS]],
        data=page_data(result, rows, said),
    )


def _content(result: Result, extra: Extra) -> dict[str, Any]:
    path, passages = annotated(result)
    return {
        "r": result,
        "x": extra,
        "groups": score_groups(result),
        "proven": [*proven(result.score, result.rule), *([GRADES_MEAN] if is_graded(result.score) else [])],
        "visible": visible_line(result),
        "few": FEW_MEANS if any(map(is_few, (*result.classes.values(), *result.operators.values()))) else "",
        "head": head_of(result, extra.project),
        "counts": status_counts(result.mutants),
        "kinds": kinds_of_changes(result.mutants),
        "classes": [each.value for each in OperatorClass],
        "operators": sorted({cut(row.operator, 120) for row in result.mutants}),
        "scenarios": scenario_lines(result),
        "confirming": confirming_line(result.baseline),
        "untestable": any(
            score.untestable for score in (*result.classes.values(), *result.operators.values())
        ),
        "reliability": campaign_reliability(result, lambda name: cut(name, 200)),
        "prompt_path": path,
        "passages": passages,
        "losses": tally(passages),
        "parts": (("Tools", tools(result)), ("Documents", documents(result))),
        "savings": savings(result),
        "shape": coverage_shape(extra.coverage) if extra.coverage else None,
    }
