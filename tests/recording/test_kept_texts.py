"""Texts are taken out of finished runs, and what decides stays."""

from pathlib import Path

import pytest

from agentmut._base import ProjectError
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.footprints import Footprint, RequestShape
from agentmut.nouns.mutant import Intent, Mutant, OperatorClass, Reach, prompt_edit
from agentmut.nouns.trace import Action, AgentTrace, Check, Step
from agentmut.project.loading import load_project
from agentmut.recording.kept_texts import NOT_KEPT, TextKeeping, Texts
from agentmut.recording.purse import OVER_BUDGET
from agentmut.trial.witness.witness import Detector

CONFIG = AgentConfig(prompt="- Be kind.\n- Never shout at Ada.")
NONE, HASHED = (TextKeeping(kind, CONFIG) for kind in (Texts.NONE, Texts.HASHED))
SENT = RequestShape(
    text=f"Today is Friday. {CONFIG.prompt}\n\nHello, I am Bob", system=len(CONFIG.prompt) + 17, model="m"
)
CALL = Step(
    action=Action.CALL_TOOL, tool="pay", arguments={"to": "Bob"}, output={"sum": 7}, error="KeyError: 'Bob'"
)


def test_names_numbers_and_types_of_errors_stay() -> None:
    trace = AgentTrace(steps=(CALL,), outputs=("Hi Bob", None), error="Bob: no", stderr="Bob", seconds=2.5)
    kept = NONE.trace(trace)
    (step,) = kept.steps
    assert (step.tool, step.arguments, step.output) == ("pay", {"to": NOT_KEPT}, NOT_KEPT)
    assert step.error == f"KeyError: {NOT_KEPT}"
    assert (kept.outputs, kept.error, kept.stderr) == ((NOT_KEPT, None), NOT_KEPT, NOT_KEPT)
    assert (kept.seconds, kept.texts) == (2.5, "none")
    assert "Bob" not in kept.model_dump_json()


def test_equal_texts_have_equal_digests_that_hang_on_the_project() -> None:
    one, same, other = map(HASHED.value, ("Hi", "Hi", "Ho"))
    assert one == same != other
    assert TextKeeping(Texts.HASHED, AgentConfig(prompt="x")).value("Hi") != one


def test_a_reason_keeps_what_agentmut_words_itself() -> None:
    timeout = "no answer within 5 s"
    assert NONE.reason(Ending.TIMEOUT, timeout) == timeout
    assert NONE.reason(Ending.CUT, OVER_BUDGET) == OVER_BUDGET
    assert NONE.reason(Ending.RAISED, "ValueError: Ada") == f"ValueError: {NOT_KEPT}"
    assert NONE.reason(Ending.INFRASTRUCTURE, "the service said Ada") == NOT_KEPT
    assert (
        NONE.checks([Check(evaluator="contains", passed=False, reason="Ada", details={"a": 1})])[0].details
        is None
    )


def test_a_request_keeps_the_projects_words_for_those_who_have_the_project() -> None:
    kept = NONE.footprint(Footprint(requests=(SENT,)))
    assert not any(
        word in kept.model_dump_json() for word in ("kind", "Ada", "Today", "Friday", "Bob", "Hello")
    )
    (shown,) = TextKeeping(Texts.NONE, CONFIG).shown(kept).requests
    assert shown.instructions == f"⟨⟩ ⟨⟩ ⟨⟩. {CONFIG.prompt}"
    assert shown.text.endswith("⟨⟩, ⟨⟩ ⟨⟩ ⟨⟩")
    (unreadable,) = TextKeeping(Texts.NONE, AgentConfig(prompt=CONFIG.prompt + "!")).shown(kept).requests
    assert "kind" not in unreadable.text


def test_a_mutation_shows_in_what_is_kept_of_its_requests() -> None:
    edit = prompt_edit(CONFIG.prompt, 13, 18, "always")
    mutant = Mutant(
        id="m", operator="o", version=1, operator_class=OperatorClass.PROMPT, intent=Intent.DEGRADE,
        reach=Reach.SENT, description="d", edits=(edit,),
    )  # fmt: skip
    detector = Detector(mutant, CONFIG)
    sent = RequestShape(text=detector.mutated.prompt, system=len(detector.mutated.prompt), model="m")
    for shape, arrives in ((sent, True), (SENT, False)):
        kept = NONE.footprint(Footprint(requests=(shape,)), detector.mutated)
        assert bool(detector.witness(NONE.shown(kept, detector.mutated))) is arrives
        assert detector.witness(kept) is None


def test_all_is_kept_unless_the_project_says_otherwise() -> None:
    execution = Execution(ending=Ending.ANSWERED, trace=AgentTrace(outputs=("Hi",)))
    assert TextKeeping().execution(execution) is execution


@pytest.mark.parametrize("setting", ["record", "fork"])
def test_a_recording_and_no_text_exclude_each_other(tmp_path: Path, setting: str) -> None:
    (tmp_path / "s.yaml").write_text("- {name: s, input: hi, evaluators: [{contains: x}]}\n")
    (tmp_path / "agentmut.yaml").write_text(
        "version: 1\nagent: {adapter: python, run: 'm:run', config: {prompt: hi}}\nsuite: {scenarios: s.yaml}\n"
        f"execution: {{{setting}: true}}\nstore: {{texts: none}}\n"
    )
    with pytest.raises(
        ProjectError, match=rf"agentmut\.yaml:4: execution\.{setting}: a recording is the text of a run"
    ):
        load_project(tmp_path)
