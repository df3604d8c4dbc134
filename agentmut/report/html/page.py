"""The page: one file that loads nothing, and whose policy lets nothing in."""

import base64
import hashlib
import json
import re
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from agentmut.nouns import SUITE, OperatorClass, Result, Status
from agentmut.report.html.annotated import Loss, annotated, tally
from agentmut.report.html.inline import cut, diff_of
from agentmut.report.html.mutant_pages import mutant_pages
from agentmut.report.html.mutant_rows import page_data, sayings, where
from agentmut.report.html.page_head import card_title, head_of
from agentmut.report.html.page_sections import (
    coverage_shape,
    kinds_of_changes,
    savings,
    scenario_lines,
    score_groups,
    status_counts,
)
from agentmut.report.html.run_lines import run_head, run_lines
from agentmut.report.proof_wording import FEW_MEANS, GRADES_MEAN, is_few, is_graded, proven
from agentmut.report.ranking import most_worrying_first, rank
from agentmut.report.reliability_wording import campaign_reliability
from agentmut.report.report_wording import ROUNDED_UP, counted, interval, status_name
from agentmut.report.run_wording import WHY_CHOSEN
from agentmut.report.view import Extra

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

CARDS = 15
"""Unnoticed changes that are written out; all others are in the list."""


def html_report(result: Result, extra: Extra | None = None, listed: frozenset[str] | None = None) -> str:
    """Return one HTML document with everything in it: style, script, charts and data.

    `listed` narrows the mutants that are listed, by id; all else stays that of the whole run.
    What models and users wrote is cleaned, cut and escaped. A Content-Security-Policy admits the one script and the
    one style of agentmut by their hashes, and no request.
    """
    from markupsafe import Markup

    style, script = _text("report.css"), _text("runs.js") + _text("report.js")
    extra = extra or Extra()
    said, rows = (
        sayings(result),
        [row for row in most_worrying_first(result.mutants) if listed is None or row.id in listed],
    )
    ranked = rank(rows)
    return (
        _environment()
        .get_template("report.html")
        .render(
            **_content(result, extra),
            listed=len(rows),
            pages=mutant_pages(extra, [row.id for row in rows]),
            unnoticed=len(ranked),
            cards=[(row, diff_of(row, result.sources, 800), said.of(row)) for row in ranked[:CARDS]],
            policy=_policy(style, script),
            style=Markup(style),
            script=Markup(script),
            data=page_data(result, rows, said),
        )
    )


def _content(result: Result, extra: Extra) -> dict[str, Any]:
    path, passages = annotated(result)
    return {
        "r": result,
        "x": extra,
        "groups": score_groups(result),
        "proven": [*proven(result.score, result.rule), *([GRADES_MEAN] if is_graded(result.score) else [])],
        "few": FEW_MEANS if any(map(is_few, (*result.classes.values(), *result.operators.values()))) else "",
        "head": head_of(result, extra.project),
        "counts": status_counts(result.mutants),
        "kinds": kinds_of_changes(result.mutants),
        "classes": [each.value for each in OperatorClass],
        "operators": sorted({cut(row.operator, 120) for row in result.mutants}),
        "scenarios": scenario_lines(result),
        "reliability": campaign_reliability(result, lambda name: cut(name, 200)),
        "prompt_path": path,
        "passages": passages,
        "losses": tally(passages),
        "savings": savings(result),
        "shape": coverage_shape(extra.coverage) if extra.coverage else None,
    }


def _policy(style: str, script: str) -> str:
    """Return the content security policy: it admits only this style and script."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _text(name: str) -> str:
    return files("agentmut.report.html").joinpath(name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        loader=FunctionLoader(_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    made.policies["json.dumps_function"] = json.dumps
    made.filters.update(cut=cut, where=where, interval=interval, counted=counted, breakable=_breakable)
    made.filters.update(card_title=card_title, run_head=run_head, run_lines=run_lines)
    made.globals.update(Status=Status, Loss=Loss, SUITE=SUITE, ROUNDED_UP=ROUNDED_UP, status_name=status_name)
    made.globals.update(EVENTS=EVENTS, WHY_CHOSEN=WHY_CHOSEN)
    return made


def _breakable(name: str) -> "Markup":
    """Return a name that lines may be broken in, behind its dots, dashes and slashes."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(map(escape, re.split(r"(?<=[._/])", name)))


EVENTS = {"user": "User", "call": "Calls", "result": "Gets", "answer": "Answers", "end": "Ends"}
"""Kinds of events of a run in the words of the page."""
