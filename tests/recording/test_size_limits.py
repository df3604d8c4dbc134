"""A reply that is too long is cut in its middle, and a run says so."""

import json
from pathlib import Path

from typer.testing import CliRunner

from agentmut.cli.entry import app
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.recording import Redactor
from agentmut.recording.size_limits import MARGIN, SizeLimits


def answered(*texts: str) -> Execution:
    steps = tuple(Step(action=Action.CALL_TOOL, tool="t", output={"found": [text]}) for text in texts[1:])
    return Execution(ending=Ending.ANSWERED, trace=AgentTrace(steps=steps, outputs=texts[:1]))


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    kept = SizeLimits(text=1000).execution(answered("a" * 5000 + "z" * 5000)).trace
    said = "[... 9,000 characters are not kept: store.max_text ...]"
    assert kept.outputs == (f"{'a' * 500}{said}{'z' * 500}",)
    assert kept.texts_cut == 9000 - len(said)


def test_what_fits_is_left_alone() -> None:
    execution = answered("a" * 1000, "b" * 900)
    assert SizeLimits(text=1000, trial=2000).execution(execution) is execution


def test_a_trial_of_many_texts_is_cut_as_a_whole() -> None:
    kept = SizeLimits(text=1000, trial=3000).execution(answered(*["x" * 900] * 10)).trace
    assert kept.characters <= 3000
    assert "store.max_trial" in str(kept.steps[3].output)


def test_a_run_that_is_full_keeps_no_more_texts() -> None:
    limits = SizeLimits(text=1000, trial=2000, run=5000)
    assert limits.execution(answered("x" * 900), kept=4000).trace.characters == 900
    full = limits.execution(answered("x" * 900, "short"), kept=4500).trace
    assert full.outputs == ("[... 900 characters are not kept: store.max_run ...]",)
    assert full.steps[0].output == {"found": ["short"]}


PROJECT = """
version: 1
agent: {adapter: python, run: "lengthy_agent:run", config: {prompt: "Be long."}}
suite: {scenarios: s.yaml}
store: {max_text: 1000}
"""


def test_verdicts_rest_on_whole_replies_and_the_store_holds_what_the_limit_allows(tmp_path: Path) -> None:
    (tmp_path / "lengthy_agent.py").write_text(
        "def run(config, input):\n    return 'a' * 200_000 + ' needle ' + 'z' * 200_000\n"
    )
    (tmp_path / "s.yaml").write_text("- {name: s, input: hi, evaluators: [{contains: needle}]}\n")
    (tmp_path / "agentmut.yaml").write_text(PROJECT)
    at = ["--project", str(tmp_path), "--json"]
    done = CliRunner().invoke(app, ["test", "--yes", "--method", "fixed", "--trials", "5", *at])
    report = json.loads(done.stdout)
    assert report["scenarios"][0]["passes"] == 5
    assert any(note.startswith("5 trials have more text than the store keeps") for note in report["notes"])
    assert (tmp_path / ".agentmut" / "store.db").stat().st_size < 200_000
    shown = json.loads(CliRunner().invoke(app, ["trials", "--trial", "1", *at]).stdout)
    assert shown["trace"]["texts_cut"] > 398_000
    assert shown["row"]["outcome"] == "pass"


def test_no_piece_of_a_secret_that_a_cut_divides_is_kept() -> None:
    token, limits = "ghp_" + "q7Xk2LmPz9RtV4bNw8Yc3HdJ5sGfA6eU1iOp", SizeLimits(text=2_000)
    redactor = Redactor(())
    for before in range(940, 1010, 3):  # the cut comes after 1,000 characters
        words = ("word " * before)[:before]
        run = answered(f"{words} {token} {'more ' * 4_000}")
        clean = limits.execution(redactor.execution(limits.roughly(run)), 0, run.trace.characters)
        kept = clean.trace.text
        assert not any(token[at : at + 6] in kept for at in range(len(token) - 5)), before
        assert len(kept) < 2_100


def test_what_is_searched_for_secrets_of_a_long_answer_is_bounded() -> None:
    limits = SizeLimits(text=2_000)
    rough = limits.roughly(answered("word " * 200_000))
    assert rough.trace.characters < 2_000 + 2 * MARGIN + 100
    kept = limits.execution(rough, 0, 1_000_000).trace.text
    assert "[... 998,000 characters are not kept: store.max_text ...]" in kept


def test_masks_that_shorten_a_text_bring_nothing_of_the_margin_in() -> None:
    token, limits = "ghp_" + "q7Xk2LmPz9RtV4bNw8Yc3HdJ5sGfA6eU1iOp", SizeLimits(text=2_000)
    run = answered(f"{token} " * 3_000)
    rough = Redactor(()).execution(limits.roughly(run))
    kept = limits.execution(rough, 0, run.trace.characters).trace.text
    assert token[:8] not in kept and token[-8:] not in kept
