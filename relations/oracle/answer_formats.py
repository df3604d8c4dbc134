"""Formats of an answer: the format that a request asks for, and whether an answer has it."""

import csv
import io
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from pydantic import JsonValue

from agentmut._base import arguments, canonical_json, nearest
from agentmut.judging import JsonSchema, Regex, shown, structured
from agentmut.nouns import AgentTrace, EvaluatorSpec, Scenario
from agentmut.relations.oracle.demand_wording import is_asked_about, is_reported

Fault = Callable[[JsonValue], str]
"""What is wrong with an answer, in a phrase; empty where nothing is."""


class Format(NamedTuple):
    """A format that an answer should have."""

    name: str
    fault: Fault


_FENCED = re.compile(r"\s*```[\w-]*\n(?P<inside>.*?)\n?```\s*", re.DOTALL)
_BULLET = re.compile(r"^[ \t]*[-*•+][ \t]+\S", re.MULTILINE)
_NUMBERED = re.compile(r"^[ \t]*\d{1,2}[.)][ \t]+\S", re.MULTILINE)
_TABLE = re.compile(r"^[^\n|]*+\|[^\n]*+\n[ \t]*+(?:\|[ \t]*+)?:?-++:?[ \t]*+\|[ \t:|-]*+$", re.MULTILINE)
_MARKDOWN = re.compile(
    r"^#{1,6}[ \t]+\S|\*\*\S[^\n]*?\*\*|`[^`\n]+`|^[ \t]*[-*+][ \t]+\S|^[ \t]*\d{1,2}[.)][ \t]+\S|"
    r"\[[^\[\]\n]+\]\([^)\[\n]{1,2000}\)",
    re.MULTILINE,
)
_YES_NO = re.compile(r"\W*(?:yes|no)\W*", re.IGNORECASE)


def json_fault(answer: JsonValue, fenced: bool = False) -> str:
    """Return why an answer is not JSON. With `fenced`, a single code block may contain it."""
    if fenced and isinstance(answer, str) and (block := _FENCED.fullmatch(answer)):
        answer = block["inside"]
    try:
        structured(AgentTrace(outputs=(answer,)))
    except ValueError as error:
        return str(error)
    return ""


def _lacks(pattern: re.Pattern[str], form: str, times: int = 1) -> Fault:
    def fault(answer: JsonValue) -> str:
        text = answer if isinstance(answer, str) else canonical_json(answer)
        return "" if len(pattern.findall(text)) >= times else f"the answer has no {form}: {shown(answer)}"

    return fault


def _yes_no_fault(answer: JsonValue) -> str:
    is_one = isinstance(answer, str) and _YES_NO.fullmatch(answer)
    return "" if is_one else f"the answer is neither yes nor no alone: {shown(answer)}"


def _csv_fault(answer: JsonValue) -> str:
    text = answer if isinstance(answer, str) else canonical_json(answer)
    block = _FENCED.fullmatch(text)
    rows = [row for row in csv.reader(io.StringIO(block["inside"] if block else text)) if row]
    if len(rows) < 2 or len(rows[0]) < 2:
        return f"the answer is no table of comma-separated values: {shown(answer)}"
    other = next((number for number, row in enumerate(rows, start=1) if len(row) != len(rows[0])), 0)
    return f"row {other} has {len(rows[other - 1])} values, the first one {len(rows[0])}" if other else ""


NAMED: dict[str, Fault] = {
    "json": json_fault,
    "markdown": _lacks(_MARKDOWN, "Markdown"),
    "bullets": _lacks(_BULLET, "bullet points"),
    "numbered": _lacks(_NUMBERED, "numbered list"),
    "table": _lacks(_TABLE, "table in Markdown"),
    "csv": _csv_fault,
    "yes_no": _yes_no_fault,
}
"""Formats that an argument can name."""

_ASKED = (
    ("json", r"(?:as|in|with|valid|only|a|return|output)\s+(?:\w+\s+)?JSON\b(?!\s+(?:file|payload|document|below))"),
    ("bullets", r"(?:as|in|with|using)\s+(?:\w+\s+){0,2}?bullet(?:ed)?(?:\s+points?|\s+list|s)\b"),
    ("numbered", r"(?:as|in|with|using)\s+(?:a\s+)?numbered\s+(?:list|steps)\b"),
    ("table", r"(?:as|in)\s+a\s+(?:markdown\s+)?table\b"),
    ("csv", r"(?:as|in)\s+(?:a\s+)?(?:CSV|comma[- ]separated)\b"),
    ("markdown", r"(?:as|in|using)\s+Markdown\b"),
    ("yes_no", r"(?:answer|reply|respond)\s++(?:only|just|simply)?\s*+(?:with\s++)?(?:only\s++|just\s++|a\s++)?"
     r"(?:simple\s++)?['\"]?yes['\"]?\s+or\s+['\"]?no['\"]?(?=[.!]|\s*$|\s+only)"),
)  # fmt: skip
_ASKS = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _ASKED)
_DENIED = re.compile(
    r"\b(?:not?|never|without|avoid|don['’]t|instead of|rather than)\b[^.!?;:\n]{0,24}$", re.IGNORECASE
)
_ANSWERS = re.compile(
    r"\b(?:answer|compare|reply|respond|return|give|list|output|write|summari[sz]e|present|format|show|put|tell|explain|describe|"
    r"provide|send|make|produce|me)\b",
    re.IGNORECASE,
)


_GOES_ON = re.compile(
    r"\s*(?:$|[.,;:!?)(\"'\n]|\b(?:format|object|array|string|output|response|only|with|of|for|that|where|showing|listing"
    r"|containing|comparing|and|or|please|so|using|from|which|instead|as|list|points?|steps)\b)",
    re.IGNORECASE,
)
"""What may follow a format that is demanded; in "a table order" it is part of another name."""
_SENT_ELSEWHERE = re.compile(r"\bto \S+@\S|\b(?:upload|save|export|attach|store)\b", re.IGNORECASE)


def asked_format(request: str) -> Format | None:
    """Return the format that a request asks for; None if it asks for none.

    >>> [format.name for format in [asked_format("List the plans as a table.")] if format]
    ['table']
    >>> asked_format("I sent it in JSON."), asked_format("Please do not answer in JSON.")
    (None, None)
    """
    for start, sentence in _sentences(request):
        for name, pattern in _ASKS:
            found = pattern.search(sentence)
            if not found or _DENIED.search(sentence[: found.start()]):
                continue
            if is_reported(request, start + found.start()):
                continue
            if name == "yes_no" or _is_demand(sentence, found):
                return Format(name, _fenced_json_fault if name == "json" else NAMED[name])
    return None


def _sentences(request: str) -> Iterator[tuple[int, str]]:
    edges = [0, *(gap.end() for gap in re.finditer(r"(?<=[.!?\n])\s+", request)), len(request)]
    return ((start, request[start:end].rstrip()) for start, end in pairwise(edges))


def _is_demand(sentence: str, found: re.Match[str]) -> bool:
    """Return whether the answer itself is to have the format, and not something that is asked about, or sent."""
    if is_asked_about(sentence, found.start()) or not _GOES_ON.match(sentence, found.end()):
        return False
    if _SENT_ELSEWHERE.search(sentence):
        return False
    return found.start() == 0 or _ANSWERS.search(sentence) is not None


def _fenced_json_fault(answer: JsonValue) -> str:
    return json_fault(answer, fenced=True)


def demanded_format(response_format: JsonValue) -> Format | None:
    """Return the format that a `response_format` of the model's settings demands; None for text."""
    if not isinstance(response_format, dict):
        return None
    kind = response_format.get("type")
    if kind == "json_object":
        return Format("json", json_fault)
    if kind != "json_schema":
        return None
    inner = response_format.get("json_schema", response_format)
    schema = inner.get("schema") if isinstance(inner, dict) else None
    return schema_format(schema) if isinstance(schema, dict) else Format("json", json_fault)


def schema_format(schema: JsonValue) -> Format:
    """Return the format of JSON valid under a schema. Raises `ValueError` for an invalid schema."""
    evaluator = JsonSchema(schema)
    return Format("json_schema", lambda answer: _fault_of(evaluator, answer))


def given_format(argument: JsonValue) -> Format:
    """Return the format in an argument. Raise `ValueError`."""
    if isinstance(argument, str):
        if argument not in NAMED:
            raise ValueError(f"unknown format {argument!r}. {nearest(argument, NAMED)}")
        return Format(argument, NAMED[argument])
    given = arguments.mapping(argument, (), ("regex", "json_schema"))
    if len(given) != 1:
        raise ValueError("expects either regex or json_schema")
    if "json_schema" in given:
        return schema_format(given["json_schema"])
    evaluator = Regex(given["regex"])
    return Format("regex", lambda answer: _fault_of(evaluator, answer))


_ANY = Scenario(name="format", turns=("",), evaluators=(EvaluatorSpec(name="regex", argument="."),))


def _fault_of(evaluator: JsonSchema | Regex, answer: JsonValue) -> str:
    """Return an evaluator's reason against an answer."""
    judged = evaluator.evaluate(_ANY, AgentTrace(outputs=(answer,)))
    return "" if judged.passed else judged.reason
