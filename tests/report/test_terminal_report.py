"""The terminal report says what result.json holds, and prints nothing that a model could abuse."""

from agentmut.nouns.mutant import Intent, OperatorClass, Status
from agentmut.nouns.mutant_row import Evidence, MutantRow, Target
from agentmut.nouns.result import (
    AgentSummary,
    BaselineRow,
    Controls,
    Cost,
    DestroyedControl,
    IdentityControl,
    Result,
)
from agentmut.nouns.result_figures import Bounds, Score
from agentmut.report.paint import clean
from agentmut.report.ranking import rank
from agentmut.report.terminal.mutant_page import render_mutant
from agentmut.report.terminal.run_page import render

EVIL = "ok\x1b[31m\x07\u202ekcatta\u200b <b>bold</b> [red]markup[/red]"


def row(id: str, before: str, status: Status = Status.SURVIVED, **changes: object) -> MutantRow:
    fields: dict[str, object] = {
        "id": id,
        "operator": "prompt.drop_instruction",
        "operator_class": OperatorClass.PROMPT,
        "intent": Intent.DEGRADE,
        "status": status,
        "target": Target(path="prompt.md", line=3, column=1),
        "before": before,
        "after": "",
        "description": "drop an instruction",
        "evidence": (Evidence(scenario="refund", trials=20, failures=1, decision="survived"),),
        "trials": 20,
        **changes,
    }
    return MutantRow.model_validate(fields)


def result(*rows: MutantRow, **changes: object) -> Result:
    score = Score(value=0.5, low=0.25, high=0.75, killed=1, survived=1)
    bounds = Bounds(low=0.8, high=0.97, level=0.95, method="wilson")
    fields: dict[str, object] = {
        "agentmut_version": "0",
        "run_id": "r",
        "status": "finished",
        "seed": 1,
        "agent": AgentSummary(adapter="python", digest="d" * 64),
        "baseline": (
            BaselineRow(
                scenario="refund",
                trials=50,
                passes=46,
                rate=0.92,
                interval=bounds,
                threshold=0.9,
                testable=True,
            ),
        ),
        "controls": Controls(
            identity=IdentityControl(mutants=1, killed=0, trials=30),
            destroyed=DestroyedControl(status=Status.KILLED, trials=4),
        ),
        "score": score,
        "robustness": Score(value=None, low=None, high=None),
        "classes": {"prompt": score},
        "operators": {"prompt.drop_instruction": score},
        "mutants": rows,
        "cost": Cost(trials=84, baseline_trials=50, tokens=1234, usd=0.5, seconds=12),
        "rule": {"alpha": 0.05, "beta": 0.1, "delta": 0.2, "n_max": 100, "baseline": 50},
        **changes,
    }
    return Result.model_validate(fields)


def test_prohibitions_and_duties_rank_before_preferences() -> None:
    may = row("a", "You may be brief.")
    must = row("b", "You must verify the identity.")
    never = row("c", "Never share notes.")
    killed = row("d", "Never lie.", Status.KILLED)
    assert [r.id for r in rank([may, must, killed, never])] == ["c", "b", "a"]


def test_the_report_names_score_survivor_place_and_cost() -> None:
    text = render(result(row("abcd1234", "- Never share notes.")))
    assert "0.50 [0.25, 0.75]" in text
    assert "abcd1234  prompt.drop_instruction  prompt.md:3" in text
    assert "- Never share notes." in text
    assert "1 of 1" in text
    assert "84 runs of the agent (50 baseline), 1,234 tokens, $0.5000" in text
    assert "n/a" in text


def test_a_partial_run_says_so() -> None:
    assert "agentmut resume" in render(result(row("a", "x"), status="interrupted"))


def test_mutants_that_never_arrived_are_said_loudly() -> None:
    lost = row("a", "x", Status.NOT_APPLIED, reason="the agent copied this part at import")
    text = render(result(lost))
    assert "Not applied" in text
    assert "copied this part at import" in text


def test_untrusted_text_is_printed_without_escapes_or_markup() -> None:
    evil = row("a", EVIL, description=EVIL, subject=EVIL)
    for text in (render(result(evil, problem=EVIL, notes=(EVIL,))), render_mutant(result(evil), evil)):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\u200b" not in text
        assert "[red]markup[/red]" in text


def test_colour_is_added_only_where_it_is_wanted() -> None:
    assert "\x1b[" in render(result(row("a", "x")), color=True)
    assert "\x1b[" not in render(result(row("a", "x")))


def test_clean_keeps_letters_of_any_language_and_line_breaks() -> None:
    assert clean("naïve\n日本語 🙂") == "naïve\n日本語 🙂"


def test_numbers_are_never_cut_whatever_the_names() -> None:
    name = "orchestration.serialise_branches_of_a_very_long_name"
    whole = Score(value=0.86, low=0.57, high=1.0, killed=12, survived=2)
    page = render(result(row("a", "x", operator=name, intent=Intent.PRESERVE), operators={name: whole}))
    assert "0.86 [0.57, 1.00]" in page
    assert "\u2026" not in page
    assert max(map(len, page.splitlines())) <= 80


def test_the_kinds_of_unchanged_agents_are_counted() -> None:
    controls = Controls(
        identity=IdentityControl(mutants=3, killed=0, trials=90),
        destroyed=DestroyedControl(status=Status.KILLED, trials=4),
    )
    assert "3 kinds" in render(result(controls=controls))
    assert "kinds" not in render(result())


def test_a_swap_is_shown_as_edges_and_a_pair_in_two_lines() -> None:
    swap = row("a", "draft, review", operator="orchestration.swap_agents", after="review, draft")
    shown = render_mutant(result(swap), swap)
    assert "- edge draft -> review" in shown
    assert "+ edge review -> draft" in shown
    both = row("c", "x", parts=("aaaa", "bbbb"), description="[aaaa] drop one and [bbbb] drop and keep")
    lines = [line.strip() for line in render_mutant(result(both), both).splitlines()]
    assert "[aaaa] drop one" in lines
    assert "[bbbb] drop and keep" in lines


def test_a_wide_terminal_gets_wider_lines_and_a_narrow_log_none_over_80() -> None:
    survivor = row("a", "Never " + "share the notes of a customer " * 6)
    narrow, wide = render(result(survivor)), render(result(survivor), width=120)
    assert max(map(len, narrow.splitlines())) <= 80
    assert 80 < max(map(len, wide.splitlines())) <= 120


def test_a_long_change_is_cut_with_the_number_of_lines_that_are_left_out() -> None:
    lines = "\n".join(f"Rule number {n}." for n in range(10))
    text = render(result(row("a", lines)))
    assert "Rule number 5." in text
    assert "... and 4 more lines" in text


def test_a_gap_is_named_with_its_meaning_and_an_unknown_one_is_not() -> None:
    behaviour = {"changed": True, "p": 0.001}
    known = row("a", "x", gap="assertion", behaviour=behaviour)
    assert "gap: assertion: behaviour changed, and no evaluator looks at that." in render(result(known))
    assert "gap:" not in render(result(row("a", "x", gap="unknown", behaviour=behaviour)))
