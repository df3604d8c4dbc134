"""What a run left in its workspace is kept within the same limits as what it said."""

from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.trace import AgentTrace
from agentmut.nouns.workspace import ChangeKind, CommandRun, FileChange, WorkspaceEnd
from agentmut.recording.kept_texts import NOT_KEPT, TextKeeping, Texts
from agentmut.recording.size_limits import SizeLimits

END = WorkspaceEnd(
    files=(
        FileChange(path="a.py", kind=ChangeKind.ADDED, text="Ada Brook" * 100, diff="+Ada Brook"),
        FileChange(path="b.bin", kind=ChangeKind.ADDED),
    ),
    commands=(CommandRun(name="tests", code=1, output="Ada Brook failed"),),
)
TRACE = AgentTrace(outputs=("done",), workspace=END)


def test_texts_that_are_not_to_be_kept_are_gone_and_names_stay() -> None:
    kept = TextKeeping(Texts.NONE).trace(TRACE).workspace
    assert kept and "Ada" not in kept.model_dump_json()
    assert [(change.path, change.text) for change in kept.files] == [("a.py", NOT_KEPT), ("b.bin", None)]
    assert (kept.commands[0].name, kept.commands[0].code) == ("tests", 1)


def test_texts_of_files_count_and_are_cut() -> None:
    assert TRACE.characters == 4 + 900 + 10 + 16
    limits = SizeLimits(text=300)
    cut = limits.execution(Execution(ending=Ending.ANSWERED, trace=TRACE)).trace
    assert cut.texts_cut > 0 and cut.workspace
    assert "are not kept" in str(cut.workspace.files[0].text) and cut.workspace.files[0].diff == "+Ada Brook"
