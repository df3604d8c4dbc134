"""The templates of the pages, and the content security policy that admits only their style and script."""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from agentmut.nouns import SUITE, Status
from agentmut.report.html.annotated import Loss
from agentmut.report.html.inline import cut
from agentmut.report.html.mutant_rows import where
from agentmut.report.html.page_head import card_title
from agentmut.report.html.run_lines import run_head, run_lines
from agentmut.report.report_wording import (
    ROUNDED_UP,
    WHY_CHOSEN,
    ci_left_out,
    counted,
    interval,
    part_of_suite,
    status_name,
)

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def rendered(template: str, scripts: Sequence[str], *, connect: bool = False, **values: object) -> str:
    """Return a whole page with its style and scripts in it, which its policy admits by their hashes.

    `connect`: whether the page may ask the server that it comes from.
    """
    from markupsafe import Markup

    style, script = _text("report.css"), "".join(map(_text, scripts))
    made = _environment().get_template(template)
    policy = _policy(style, script) + ("; connect-src 'self'" if connect else "")
    return made.render(**values, policy=policy, style=Markup(style), script=Markup(script))


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
    made.globals.update(
        EVENTS=EVENTS, WHY_CHOSEN=WHY_CHOSEN, ci_left_out=ci_left_out, part_of_suite=part_of_suite
    )
    return made


def _breakable(name: str) -> "Markup":
    """Return a name as HTML that may break behind its dots, dashes and slashes."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(map(escape, re.split(r"(?<=[._/])", name)))


EVENTS = {"user": "User", "call": "Calls", "result": "Gets", "answer": "Answers", "end": "Ends"}
"""Kinds of events of a run in the words of the page."""
