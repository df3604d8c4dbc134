"""Evaluators run beside the event loop, with a deadline: one that never ends is an error, and stops nothing else."""

import re
from pathlib import Path
from typing import Any

import pytest

from agentmut._base.errors import RunError
from agentmut.usecases.campaigns import measure
from agentmut.usecases.runtime import open_store

WAITS = """
import asyncio, itertools, threading
entered, ran_on, number = threading.Event(), threading.Event(), itertools.count()


def judge(trace):
    entered.set()
    if not ran_on.wait(600):
        raise KeyError("the event loop stood still")
    return True


inner = run
async def run(config, input):
    answer = await inner(config, input)
    if next(number) == 1:  # the second run goes on while the first is judged
        while not entered.is_set():
            await asyncio.sleep(0.001)
        ran_on.set()
    return answer
"""


def judged_by(projects: Any, code: str, texts: str = "full", **execution: Any) -> Any:
    judge = {"evaluators": [{"python": f"{projects.module}:judge"}]}
    sections = {"execution": execution, "store": {"texts": texts}}
    return projects.write(("alpha",), idle=0, extra=code, scenario=lambda word: judge, **sections)


def stored(projects: Any) -> int:
    with open_store(projects.load()) as store:
        return sum(1 for _ in store.trials_of(store.runs()[0].id, ""))


def test_agents_run_on_while_an_evaluator_waits(projects: Any) -> None:
    project = judged_by(projects, WAITS, concurrency=2, isolate_evaluators="thread")
    with pytest.raises(
        RunError, match="control"
    ) as told:  # an evaluator that passes everything kills nothing
        measure(project)
    assert "stood still" not in str(told.value)


@pytest.mark.parametrize("texts", ["full", "none"])
def test_an_evaluator_that_never_ends_is_an_error_that_names_its_line(projects: Any, texts: str) -> None:
    stuck = "\nimport time\ndef judge(trace):\n    while True:\n        time.sleep(0.001)\n"
    project = judged_by(projects, stuck, texts, evaluator_timeout=0.5)
    line = next(
        number
        for number, text in enumerate(
            Path(projects.folder, f"{projects.module}.py").read_text().split("\n"), 1
        )
        if "while True" in text
    )
    with pytest.raises(RunError) as told:
        measure(project)
    message = str(told.value)
    assert "took more than 0.5 s" in message
    assert re.search(rf"{projects.module}\.py:({line}|{line + 1}) in judge", message)
    assert "execution.evaluator_timeout" in message


def test_the_run_that_no_evaluator_could_judge_is_kept(projects: Any) -> None:
    raising = "\ndef judge(trace):\n    raise KeyError('mine')\n"
    with pytest.raises(RunError, match="KeyError"):
        measure(judged_by(projects, raising, concurrency=1))
    assert stored(projects) == 1


def test_an_evaluator_that_raises_keyboard_interrupt_is_no_ctrl_c(projects: Any) -> None:
    rude = "\ndef judge(trace):\n    raise KeyboardInterrupt\n"
    with pytest.raises(RunError, match=r"evaluator.*KeyboardInterrupt"):
        measure(judged_by(projects, rude))


def test_an_evaluator_that_lets_python_run_nothing_else_is_an_error_that_names_its_line(
    projects: Any,
) -> None:
    code = '\nimport re\ndef judge(trace):\n    return bool(re.search(r"^(a+)+$", "a" * 41 + "!"))\n'
    with pytest.raises(RunError, match=rf"more than 0.3 s.*{projects.module}\.py:\d+ in judge"):
        measure(judged_by(projects, code, evaluator_timeout=0.3))
    assert stored(projects) >= 1


@pytest.mark.parametrize(
    ("rude", "how"),
    [
        ("os._exit(0)", "exit code 0"),
        ("os.kill(os.getpid(), 9)", "SIGKILL"),
        ("os.closerange(0, 1000)", "(exit code 1|it closed its files)"),
    ],
)
def test_an_evaluator_that_ends_its_process_is_an_error(projects: Any, rude: str, how: str) -> None:
    code = f"\nimport os\ndef judge(trace):\n    {rude}\n"
    with pytest.raises(RunError, match=rf"ended the process that it ran in \({how}\)"):
        measure(judged_by(projects, code))
    assert stored(projects) >= 1


def test_without_texts_the_end_of_an_evaluators_process_is_told(projects: Any) -> None:
    code = "\nimport os\ndef judge(trace):\n    os._exit(0)\n"
    with pytest.raises(RunError, match=r"ended the process that it ran in \(exit code 0\)"):
        measure(judged_by(projects, code, "none"))


LEFT_IN_A_VARIABLE = """
left = []
inner = run
async def run(config, input):
    left.append(await inner(config, input))
    return left[-1]


def judge(trace):
    return {condition}
"""


def test_an_evaluator_that_reads_a_variable_of_the_agent_is_told_of_the_thread(projects: Any) -> None:
    """In its own process it sees no run of the agent; a campaign ends at the scenario that fails each of its runs."""
    code = LEFT_IN_A_VARIABLE.format(condition="bool(left)")
    with pytest.raises(RunError, match=r"failed every baseline trial.*isolate_evaluators: thread") as told:
        measure(judged_by(projects, code))
    assert str(told.value).count("isolate_evaluators") == 1


def test_an_evaluator_that_fails_in_both_places_is_told_of_no_thread(projects: Any) -> None:
    with pytest.raises(RunError, match="failed every baseline trial") as told:
        measure(judged_by(projects, LEFT_IN_A_VARIABLE.format(condition="False")))
    assert "isolate_evaluators" not in str(told.value)


def test_the_copy_of_an_evaluator_that_forks_judges_nothing(projects: Any) -> None:
    code = "\nimport os\ndef judge(trace):\n    os.fork()\n    return 'alpha' in trace.text\n"
    assert measure(judged_by(projects, code)).status == "finished"
