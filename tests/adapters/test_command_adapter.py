"""Programs as agents: what they are told, what they answer, and that nothing of them is left behind."""

import asyncio
import json
from pathlib import Path

import pytest

from agentmut._base.errors import UsageError
from agentmut.adapters.command import CommandAdapter
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.execution import Ending
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach
from agentmut.recording.trial import Trial
from agentmut.seams.protocols.adapter import RunsOutside
from tests.adapters.programs import CONFIG, answer, made, python, ran

pytestmark = pytest.mark.process
HOSTILE = [
    "$(touch pwned)",
    "`touch pwned`",
    "'; touch pwned; '",
    '"; touch pwned; "',
    "two\nlines",
    "a  b\t*",
    "\\",
    "$HOME ${HOME} !1",
    "-n",
    "größer 你好 🙂",
    "",
]


def mutant(*edits: Edit) -> Mutant:
    return Mutant(
        id="m", operator="o", version=1, operator_class=OperatorClass.ORCHESTRATION, intent=Intent.DEGRADE,
        reach=Reach.SENT, description="", edits=edits,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("placeholder", "told"),
    [
        ("{input}", "hello"),
        ("{prompt}", "Be kind."),
        ("{model.name}", "sim-large"),
        ("{model.temperature}", "0.5"),
        ("{model.stop}", '["END"]'),
        ("{orchestration.max_steps}", "6"),
        ("{orchestration.retries}", '{"fetch": 2}'),
        ("{orchestration.retries.fetch}", "2"),
        ("{context}", '[{"name": "fees", "text": "A room is 20."}]'),
        ("{trial}", "trial-1"),
        ("--say={input}/{{x}}", "--say=hello/{x}"),
    ],
)
def test_a_placeholder_is_replaced_in_an_argument(placeholder: str, told: str, tmp_path: Path) -> None:
    assert answer(made("printf", "%s", placeholder, root=tmp_path)) == told


def test_without_a_place_for_it_the_input_comes_on_stdin(tmp_path: Path) -> None:
    assert answer(made("cat", root=tmp_path), "one\ntwo") == "one\ntwo"


def test_stdin_is_empty_where_the_input_comes_otherwise(tmp_path: Path) -> None:
    assert answer(made("sh", "-c", 'echo "$1"; cat', "sh", "{input}", root=tmp_path)) == "hello"


def test_a_program_that_does_not_read_a_long_input_gets_by(tmp_path: Path) -> None:
    assert answer(made("echo", "done", root=tmp_path), "x" * 2_000_000) == "done"


def test_a_long_input_comes_back_whole(tmp_path: Path) -> None:
    text = "grüße " * 300_000
    assert answer(made("cat", root=tmp_path), text + ".") == text + "."


def test_input_and_answer_in_files(tmp_path: Path) -> None:
    assert answer(made("cp", "{input_file}", "{answer_file}", root=tmp_path), "in a file\n") == "in a file"


def test_several_turns_come_all_at_once_as_json(tmp_path: Path) -> None:
    for command in (("cat",), ("cat", "{input_file}"), ("printf", "%s", "{input}")):
        assert json.loads(answer(made(*command, root=tmp_path), "one", "two")) == ["one", "two"]


def test_an_input_that_is_no_text_comes_as_json(tmp_path: Path) -> None:
    given = {"question": "why?", "tags": [1, None]}
    done = answer(made("sh", "-c", 'echo "$1"; cat "$1"', "sh", "{input_file}", root=tmp_path), given)
    name, text = done.split("\n", 1)
    assert name.endswith(".json") and json.loads(text) == given


def test_temporary_files_are_removed(tmp_path: Path) -> None:
    path = answer(made("printf", "%s", "{config_file}", root=tmp_path))
    assert not Path(path).exists() and not Path(path).parent.exists()


def test_the_config_file_holds_the_mutated_config_with_the_projects_own_tools(tmp_path: Path) -> None:
    adapter = made("cat", "{config_file}", root=tmp_path)
    changed = CONFIG.model_copy(update={"prompt": "Be rude.", "tools": ()})
    read = AgentConfig.model_validate_json(answer(adapter.with_config(changed)))
    assert read == CONFIG.model_copy(update={"prompt": "Be rude."})


def test_a_program_runs_in_the_projects_folder_with_the_trials_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/elsewhere")
    adapter = made("sh", "-c", "pwd; echo $OPENAI_BASE_URL $AGENTMUT_TRIAL", root=tmp_path)
    trial = Trial("trial-7", endpoints={"OPENAI_BASE_URL": "http://127.0.0.1:2/t/trial-7/v1"})
    trace = asyncio.run(adapter.run(("hello",), trial))
    assert trace.text.split("\n") == [str(tmp_path), "http://127.0.0.1:2/t/trial-7/v1 trial-7"]


def test_an_answer_is_taken_from_json(tmp_path: Path) -> None:
    said = '{"reply": {"parts": ["no", {"a/b": "yes"}]}}'
    assert answer(made("cat", root=tmp_path, answer="/reply/parts/1/a~1b"), said) == "yes"
    assert answer(made("cat", root=tmp_path, answer="/reply/parts"), said) == ["no", {"a/b": "yes"}]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ('{"reply": {"text": "x"}}', "stdout has no /reply/parts/0: /reply is an object with 'text'"),
        ('{"reply": {"parts": []}}', "stdout has no /reply/parts/0: /reply/parts is a list of 0"),
        ('"hm"', 'stdout has no /reply/parts/0: the whole is "hm"'),
        ("oops", "stdout holds no /reply/parts/0: the body is not JSON"),
    ],
)
def test_an_answer_that_is_not_there_is_the_programs_failure(said: str, reason: str, tmp_path: Path) -> None:
    done = ran(made("cat", root=tmp_path, answer="/reply/parts/0"), said)
    assert done.ending is Ending.RAISED and reason in done.reason


def test_a_missing_answer_file_is_the_programs_failure(tmp_path: Path) -> None:
    done = ran(made("true", "{answer_file}", root=tmp_path))
    assert done.ending is Ending.RAISED and "left no answer file" in done.reason


def test_exit_code_and_stderr_are_told_and_kept(tmp_path: Path) -> None:
    done = ran(made("sh", "-c", "echo half; echo no such book >&2; exit 3", root=tmp_path))
    assert done.ending is Ending.RAISED
    assert "ended with exit code 3. Its last words on stderr: no such book" in done.reason
    assert (done.trace.exit_code, done.trace.stderr) == (3, "no such book\n")


def test_stderr_is_kept_of_a_program_that_answers(tmp_path: Path) -> None:
    done = ran(made("sh", "-c", "echo fine; echo careful >&2", root=tmp_path))
    assert (done.trace.output, done.trace.exit_code, done.trace.stderr) == ("fine", 0, "careful\n")


def test_a_signal_is_named(tmp_path: Path) -> None:
    done = ran(made("sh", "-c", "kill -SEGV $$", root=tmp_path))
    assert done.ending is Ending.RAISED and "was ended by SIGSEGV" in done.reason


def test_a_program_that_is_killed_fails_unless_memory_has_run_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = iter([7, 7, 7, 8, None, None])
    monkeypatch.setattr("agentmut._base.lack_of_memory.memory_kills", lambda *file: next(counts))
    monkeypatch.setattr("agentmut.adapters.command.memory_kills", lambda: next(counts))
    program = made("sh", "-c", "kill -KILL $$", root=tmp_path)
    itself = ran(program)
    assert itself.ending is Ending.RAISED and "SIGKILL" in itself.reason
    assert ran(program).ending is Ending.INFRASTRUCTURE
    assert ran(program).ending is Ending.INFRASTRUCTURE  # the system keeps no count


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_program_that_writes_too_much_is_ended(stream: str, tmp_path: Path) -> None:
    code = f"import sys\nwhile True: sys.{stream}.write('x' * 100_000)"
    done = ran(python(code, root=tmp_path))
    assert done.ending is Ending.RAISED and f"more than 10 MB to {stream}" in done.reason
    assert len(done.trace.stderr) <= 8000


def test_output_that_is_not_utf8_is_no_crash(tmp_path: Path) -> None:
    assert answer(made("printf", r"\377 ok", root=tmp_path)) == "� ok"


def test_nothing_on_stdout_is_an_empty_answer(tmp_path: Path) -> None:
    assert ran(made("true", root=tmp_path)).ending is Ending.EMPTY_ANSWER


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize(
    "line", ["printf %s {input}", 'printf %s "{input}"', 'printf %s "$(printf %s "{input}")"']
)
def test_no_input_is_read_as_code_by_the_shell(line: str, text: str, tmp_path: Path) -> None:
    done = ran(made(line, root=tmp_path, shell=True), text)
    assert (done.trace.output, done.trace.exit_code) == (text, 0)
    assert not any(tmp_path.iterdir())


def test_hostile_inputs_pass_as_arguments_and_on_stdin(tmp_path: Path) -> None:
    for text in HOSTILE:
        assert ran(made("printf", "%s", "{input}", root=tmp_path), text).trace.output == text
        assert ran(made("cat", root=tmp_path), text).trace.output == text


def test_the_shell_does_what_shells_do(tmp_path: Path) -> None:
    line = "echo {input} | tr a-z A-Z > {answer_file} && echo ${{AGENTMUT_TRIAL}} >> {answer_file}"
    assert answer(made(line, root=tmp_path, shell=True)) == "HELLO\ntrial-1"


def test_a_placeholder_in_single_quotes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="leave out the single quotes around"):
        made("echo 'said: {input}'", root=tmp_path, shell=True)


UNFIT = [("a\0b", "NUL"), ("a\ud800b", "half a character"), ("x" * 200_000, "too long")]


@pytest.mark.parametrize(("text", "said"), UNFIT)
def test_what_no_argument_can_hold_is_said(text: str, said: str, tmp_path: Path) -> None:
    for adapter in (made("echo", "{input}", root=tmp_path), made("echo {input}", root=tmp_path, shell=True)):
        done = asyncio.run(_alone(adapter, text))
        assert said in done


async def _alone(adapter: CommandAdapter, text: str) -> str:
    try:
        await adapter.run((text,), Trial("t"))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["no-such-program-here"], "there is no program 'no-such-program-here'"),
        (["./agent"], "there is no program './agent'"),
        (["echo", "{imput}"], "unknown placeholder {imput}. Did you mean 'input'?"),
        (["echo", "{model.nam}"], "Did you mean 'model.name'?"),
        (["echo", "{orchestration.max_step}"], "Did you mean 'orchestration.max_steps'?"),
        (["echo", "{model.seed}"], "{model.seed} stands for nothing: set it in agent.config"),
        (["echo", '{"a": 1}'], "A brace itself is written {{ or }}"),
        (["echo", "{input!r}"], "is no placeholder"),
        (["echo", "}"], "A brace itself is written {{ or }}"),
        (["{prompt}"], "cannot be a placeholder"),
        ([], "agent.command is missing"),
    ],
)
def test_a_wrong_command_is_refused_at_once(command: list[str], said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        made(*command, root=tmp_path)
    assert said in str(refused.value)


def test_a_script_that_is_not_executable_is_refused(tmp_path: Path) -> None:
    (tmp_path / "agent").write_text("#!/bin/sh\necho hi\n")
    with pytest.raises(UsageError, match="chmod"):
        made("./agent", root=tmp_path)
    (tmp_path / "agent").chmod(0o755)
    assert answer(made("./agent", root=tmp_path)) == "hi"


def test_a_pointer_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no JSON pointer"):
        made("cat", root=tmp_path, answer="reply.text")


def test_what_the_command_names_is_carried_and_noted_as_read(tmp_path: Path) -> None:
    adapter = made("echo", "{input}", "{model.name}", "{orchestration.max_steps}", "{tools}", root=tmp_path)
    assert isinstance(adapter, RunsOutside)
    assert adapter.carries == {"model.name", "orchestration.max_steps"}
    assert ran(adapter).footprint.reads == ("model.name", "orchestration.max_steps")
    by_file = made("cat", "{config_file}", root=tmp_path)
    assert by_file.carries == {"prompt", "model", "context", "orchestration"}


def test_flow_that_the_program_is_not_told_cannot_be_expressed(tmp_path: Path) -> None:
    steps = mutant(Edit(pointer="/orchestration/max_steps", before=6, after=1))
    assert "name {orchestration.max_steps} in agent.command" in made("cat", root=tmp_path).cannot_express(
        steps
    )
    assert not made("echo", "{orchestration.max_steps}", root=tmp_path).cannot_express(steps)
    assert not made("cat", "{config_file}", root=tmp_path).cannot_express(steps)


def test_a_placeholder_cannot_say_that_a_part_is_unset(tmp_path: Path) -> None:
    drop = mutant(Edit(pointer="/model/temperature", before=0.5, after=None))
    assert "{model.temperature} would stand" in made(
        "echo", "{model.temperature}", root=tmp_path
    ).cannot_express(drop)
    assert not made("echo", "{model.name}", root=tmp_path).cannot_express(drop)
    number = mutant(Edit(pointer="/orchestration/retries", before={"fetch": 2}, after=0))
    told = made("echo", "{orchestration.retries.fetch}", root=tmp_path)
    assert told.cannot_express(number)


@pytest.mark.parametrize("beginning", ["cat <<EOF\n", "cat <<'EOF'\n", "cat <<-EOF | wc\n\t"])
def test_a_placeholder_in_a_here_document_is_refused(tmp_path: Path, beginning: str) -> None:
    with pytest.raises(UsageError, match="here-document"):
        made(f"{beginning}{{input}}\nEOF", root=tmp_path, shell=True)


def test_a_placeholder_beside_a_here_document_is_filled_in(tmp_path: Path) -> None:
    assert answer(made("cat <<EOF; echo {input}\nsaid\nEOF", root=tmp_path, shell=True)) == "said\nhello"
