"""Each format holds by its published schema, and says of every mutant what the result says."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft7Validator
from markdown_it import MarkdownIt

from agentmut.nouns.mutant import Intent, OperatorClass, Status
from agentmut.nouns.mutant_row import Target
from agentmut.nouns.result import SUITE, Cost, Result, SourceText
from agentmut.nouns.result_figures import Score
from agentmut.report.builtin_formats import render_as
from agentmut.report.files.markdown import LONGEST
from agentmut.report.view import View
from tests.report.results import PROMPT, dropping, result, row

SCHEMAS = Path(__file__).parents[1] / "testdata" / "schemas"

EVERY_STATUS = (
    dropping("k1", "You are a clerk.", Status.KILLED),
    dropping("s1", "Never share notes.", Status.SURVIVED),
    row("n1", Status.NO_COVERAGE),
    row("u1", Status.UNDECIDED),
    row("a1", Status.NOT_APPLIED, reason="copied at import"),
    row("i1", Status.IGNORED, reason="told to"),
    row("q1", Status.EQUIVALENT),
    row("e1", Status.ERROR, reason="the factory raised"),
    row(
        "p1",
        Status.KILLED,
        intent=Intent.PRESERVE,
        operator="tool.reorder",
        operator_class=OperatorClass.TOOL,
    ),
    row(
        "p2",
        Status.SURVIVED,
        intent=Intent.PRESERVE,
        operator="tool.reorder",
        operator_class=OperatorClass.TOOL,
    ),
    row("h1", Status.SURVIVED, parts=("k1", "s1"), operator_class=OperatorClass.HIGHER_ORDER),
)


def sarif(found: Result, **view: Any) -> dict[str, Any]:
    document = json.loads(render_as(found, "sarif", View(**view)))
    schema = json.loads((SCHEMAS / "sarif-schema-2.1.0.json").read_text())
    assert not list(Draft7Validator(schema).iter_errors(document))
    run: dict[str, Any] = document["runs"][0]
    return run


def stryker(found: Result) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(render_as(found, "stryker"))
    schema = json.loads((SCHEMAS / "mutation-testing-report.json").read_text())
    assert not list(Draft7Validator(schema).iter_errors(document))
    return document


def junit(found: Result) -> ET.Element:
    xmlschema = pytest.importorskip("xmlschema", reason="the dev extra brings it")
    text = render_as(found, "junit")
    xmlschema.XMLSchema(SCHEMAS / "junit-10.xsd").validate(text)
    return ET.fromstring(text)


def of_mutants(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {mutant["id"]: mutant for file in document["files"].values() for mutant in file["mutants"]}


def test_junit_fails_what_nobody_noticed_and_skips_what_says_nothing() -> None:
    root = junit(result(*EVERY_STATUS))
    tags = {case.get("name", "").split()[0]: [child.tag for child in case] for case in root.iter("testcase")}
    failed = {id for id, found in tags.items() if found == ["failure"]}
    skipped = {id for id, found in tags.items() if found == ["skipped"]}
    assert failed == {"s1", "n1", "p1", "h1"}  # p1 is harmless, and was killed
    assert skipped == {"u1", "a1", "i1", "q1"}
    assert tags["e1"] == ["error"]
    assert tags["k1"] == tags["p2"] == []
    assert [suite.get("name") for suite in root] == [
        "agentmut.prompt",
        "agentmut.robustness",
        "agentmut.higher_order",
    ]


def test_junit_counts_are_those_of_its_cases_and_the_score_is_a_property() -> None:
    root = junit(result(*EVERY_STATUS))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("11", "4", "1")
    first = root.find("testsuite/properties")
    assert first is not None
    values = {each.get("name"): each.get("value") for each in first}
    assert values["agentmut.score"] == "0.333333"  # k1 of k1, s1, n1
    assert (values["agentmut.score.low"], values["agentmut.score.high"]) == ("0.1", "0.9")


def test_junit_of_a_run_that_failed_before_its_first_mutant_is_not_green() -> None:
    root = junit(result(status="failed", problem="no scenario is testable"))
    error = root.find("testsuite/testcase/error")
    assert root.get("errors") == "1"
    assert error is not None and error.get("message") == "no scenario is testable"


def test_a_long_run_has_a_time_that_the_schema_takes() -> None:
    cost = Cost(trials=1, baseline_trials=1, tokens=1, usd=None, seconds=98765.4321)
    assert junit(result(cost=cost)).get("time") == "98765.432"


def test_sarif_has_the_survivors_with_their_place_in_utf_16() -> None:
    run = sarif(result(*EVERY_STATUS))
    found = {each["properties"]["mutant"]: each for each in run["results"]}
    assert set(found) == {"s1", "n1", "h1"}
    place = found["s1"]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "prompts/system.md"
    # "- X Be kind. " before it: 13 characters, of which one takes two units
    assert (place["region"]["startLine"], place["region"]["startColumn"]) == (2, 15)
    assert (place["region"]["endLine"], place["region"]["endColumn"]) == (2, 33)
    assert run["columnKind"] == "utf16CodeUnits"
    assert found["n1"]["locations"][0]["physicalLocation"]["region"]["startLine"] == 7
    assert "startColumn" not in found["n1"]["locations"][0]["physicalLocation"]["region"]


def test_sarif_gives_no_column_where_the_file_has_more_than_the_text() -> None:
    moved = dropping("s1", "Never share notes.", Status.SURVIVED)
    moved = moved.model_copy(update={"target": Target(path="prompts/system.md", line=4, column=3)})
    region = sarif(result(moved))["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 4, "snippet": {"text": "Never share notes."}}


def test_sarif_rules_say_why_and_fingerprints_stay_when_lines_move() -> None:
    here = dropping("s1", "Never share notes.", Status.SURVIVED)
    there = here.model_copy(update={"target": Target(path="prompts/system.md", line=40, column=1)})
    runs = [sarif(result(mutant)) for mutant in (here, there)]
    assert runs[0]["results"][0]["partialFingerprints"] == runs[1]["results"][0]["partialFingerprints"]
    rule = runs[0]["tool"]["driver"]["rules"][runs[0]["results"][0]["ruleIndex"]]
    assert rule["id"] == "prompt.drop_instruction"
    assert "in practice" in rule["help"]["text"]


def test_sarif_ids_of_rules_are_unique_where_long_names_are_cut_to_the_same() -> None:
    names = [f"own.{'x' * 300}{end}" for end in "ab"] + ["prompt.negate"]
    run = sarif(result(*(row(f"m{n}", Status.SURVIVED, operator=name) for n, name in enumerate(names))))
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(ids) == len(set(ids)) == 2
    assert all(ids[each["ruleIndex"]] == each["ruleId"] for each in run["results"])


def test_sarif_paths_begin_at_the_root_of_the_repository_and_are_quoted() -> None:
    odd = row("s1", Status.SURVIVED, target=Target(path="my prompts/a#b.md", line=1))
    nowhere = row("s2", Status.SURVIVED, target=Target(path="pack.tools:TOOLS"))
    uris = [
        each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for each in sarif(result(odd, nowhere), prefix="agents/desk")["results"]
    ]
    assert sorted(uris) == ["agents/desk/agentmut.yaml", "agents/desk/my%20prompts/a%23b.md"]


def test_sarif_of_an_unfinished_run_was_not_successful() -> None:
    invocation = sarif(result(status="failed", problem="no model"))["invocations"][0]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "no model"


def test_stryker_computes_the_same_score_and_never_detects_what_is_undecided() -> None:
    found = result(*EVERY_STATUS)
    mutants = of_mutants(stryker(found))
    statuses = {id: mutant["status"] for id, mutant in mutants.items()}
    assert statuses == {
        "k1": "Killed",
        "s1": "Survived",
        "n1": "NoCoverage",
        "u1": "Pending",
        "a1": "Ignored",
        "i1": "Ignored",
        "q1": "Ignored",
        "e1": "RuntimeError",
        "p1": "Ignored",
        "p2": "Ignored",
        "h1": "Ignored",
    }
    detected = sum(status in ("Killed", "Timeout") for status in statuses.values())
    valid = detected + sum(status in ("Survived", "NoCoverage") for status in statuses.values())
    assert detected / valid == found.score.value


def test_stryker_shows_the_prompt_with_the_mutant_at_its_place() -> None:
    document = stryker(result(dropping("s1", "Never share notes.", Status.SURVIVED)))
    file = document["files"]["prompts/system.md"]
    assert file["source"] == PROMPT
    assert file["language"] == "markdown"
    place = file["mutants"][0]["location"]
    assert place == {"start": {"line": 2, "column": 15}, "end": {"line": 2, "column": 33}}


def test_stryker_shows_what_mutants_change_where_the_text_is_not_kept() -> None:
    file = stryker(result(row("s1", Status.SURVIVED, before="one\ntwo")))["files"]["tools.py"]
    place = file["mutants"][0]["location"]
    lines = file["source"].split("\n")
    assert lines[place["start"]["line"] - 1] == "one"
    assert lines[place["end"]["line"] - 1][: place["end"]["column"] - 1] == "two"


def test_stryker_replaces_one_place_and_only_describes_changes_of_several() -> None:
    one = dropping("s1", "Never share notes.", Status.SURVIVED, after="Share notes.")
    one = one.model_copy(update={"changes": (one.changes[0].model_copy(update={"after": "Share notes.\n"}),)})
    two = one.model_copy(update={"id": "s2", "changes": one.changes * 2})
    mutants = of_mutants(stryker(result(one, two)))
    assert mutants["s1"]["replacement"] == "Share notes."
    assert "replacement" not in mutants["s2"]


def test_stryker_names_the_scenarios_that_killed() -> None:
    killed = row("k1", Status.KILLED, killed_by=("refund", SUITE))
    document = stryker(result(killed))
    names = {test["id"]: test["name"] for test in document["testFiles"]["scenarios"]["tests"]}
    mutant = of_mutants(document)["k1"]
    assert [names[id] for id in mutant["killedBy"]] == ["refund", SUITE]
    assert [names[id] for id in mutant["coveredBy"]] == ["refund"]


def test_markdown_shows_survivors_as_diffs_and_folds_the_rest() -> None:
    text = render_as(result(*EVERY_STATUS), "markdown")
    assert text.startswith("## agentmut: mutation score 0.33 [0.10, 0.90]")
    assert "```diff\n- Never share notes.\n```" in text
    assert text.index("Never share notes") < text.index("<details>")
    assert "could not be run" in text.lower()


def test_markdown_of_thousands_of_survivors_fits_a_comment_and_counts_what_it_leaves_out() -> None:
    many = [row(f"s{n}", Status.SURVIVED, before=f"Rule {n}: " + "x" * 500) for n in range(3000)]
    text = render_as(result(*many), "markdown")
    assert len(text.encode()) <= LONGEST
    shown = text.count("```diff")
    assert f"{3000 - shown} more are left out here" in text


def test_markdown_with_long_names_everywhere_fits_a_comment_too() -> None:
    name = "\U0001f600" * 300
    found = result(*(row(f"e{n}", Status.ERROR, reason=f"{name}{n}") for n in range(100)))
    scenarios = tuple(found.baseline[0].model_copy(update={"scenario": f"{n}{name}"}) for n in range(300))
    classes = {f"{n}{name}": found.score for n in range(100)}
    found = found.model_copy(update={"baseline": scenarios, "notes": (name,) * 300, "classes": classes})
    assert len(render_as(found, "markdown").encode()) <= LONGEST


def test_markdown_says_that_a_run_is_partial_or_its_control_failed() -> None:
    text = render_as(result(status="budget"), "markdown")
    assert "not finished" in text


EVIL = (
    "a\x1b[31mb\x00\x07\x9b\u202ekcatta\u200b\u2028<script>alert(1)</script> @octocat #1 [x](javascript:1) | "
    "![i](http://a.b/c) ``` ~~~ `\n# head\n</details><img src=x onerror=alert(1)>\n- [ ] <!-- ]]> &#64;you\ufffe\\|"
)
LONG = EVIL * 8000  # more than 1 MB


def evil_result(long: str = LONG) -> Result:
    source = SourceText(path=f"p/{EVIL}.md", line=1, text=EVIL)
    rows = [
        row(
            f"x{number}{EVIL}",
            status,
            operator=f"prompt.{EVIL}",
            before=long,
            after=long,
            description=long,
            reason=long,
            gap=EVIL,
            subject=long,
            killed_by=(long,),
            target=Target(path=source.path, line=1, column=1),
            evidence=({"scenario": long, "trials": 1, "failures": 1, "decision": EVIL, "failure": long},),
        )
        for number, status in enumerate(Status)
    ]
    score = Score(value=0.5, low=0.1, high=0.9)
    found = result(*rows)
    baseline = tuple(each.model_copy(update={"scenario": long, "reason": long}) for each in found.baseline)
    return found.model_copy(
        update={
            "baseline": baseline,
            "problem": long,
            "status": f"failed {EVIL}",
            "run_id": EVIL,
            "notes": (long,),
            "classes": {EVIL: score},
            "operators": {f"prompt.{EVIL}": score},
            "sources": (source,),
            "project": EVIL,
        }
    )


CONTROLS = [*map(chr, [*range(9), 11, 12, *range(14, 32), *range(127, 160)]), *"\u202e\u200b\ufffe\ufeff"]


@pytest.mark.parametrize("format", ["terminal", "markdown", "junit", "sarif", "stryker", "csv"])
def test_hostile_texts_leave_every_format_clean_bounded_and_valid(format: str) -> None:
    text = render_as(evil_result(), format)
    assert not [character for character in CONTROLS if character in text]
    assert len(text.encode()) < 400_000


def test_hostile_texts_stay_valid_and_inert_once_parsed() -> None:
    evil = evil_result()
    for document in (json.dumps(sarif(evil)), json.dumps(stryker(evil))):
        assert not [character for character in CONTROLS if json.dumps(character)[1:-1] in document]
    assert len(junit(evil).findall("testsuite/testcase")) == 1 + len(Status)


def test_json_keeps_hostile_texts_and_escapes_what_steers_a_terminal() -> None:
    evil = evil_result(EVIL)
    text = render_as(evil, "json")
    assert not [character for character in CONTROLS if character in text]
    assert Result.model_validate_json(text) == evil


def test_hostile_texts_are_markdown_code_and_nothing_else() -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(render_as(evil_result(), "markdown"))
    outside = ""
    for token in tokens:
        if token.type == "html_block":
            assert token.content.startswith(("<details><summary>", "</details>"))
            assert "script" not in token.content
        for child in token.children or ():
            assert child.type not in ("html_inline", "image", "link_open"), child.content
            outside += child.content if child.type != "code_inline" else ""
    for danger in ("octocat", "script", "javascript", "onerror", "#1", "&#64;", "head"):
        assert danger not in outside
