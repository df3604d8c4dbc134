"""In real life: whoever looks at stored runs, adds an assertion that fits them, and runs again."""

import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple

import yaml

from agentmut.campaign import Selection, make_mutants, make_plan, open_session, register
from agentmut.nouns import Result, Status
from agentmut.project import FOLDER, Project, load_project
from agentmut.usecases import carry_out_campaign, measure, open_store
from benchmarks.calibration.figures import Figure, Section

WORDS = tuple(map("".join, product("bdfg", "aeiou", "lmn")))
BASELINE = 50
MUTANTS = 6
PROJECTS = 200
RATES = (0.85, 0.9, 0.93, 0.95, 0.97, 0.99, 1.0)
"""With which an answer has each word."""
AGENT = '''
import hashlib

from agentmut.recording.current import current_trial

WORDS = {words}


def coin(*parts):
    text = repr((current_trial().id, parts)).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") / 2**64


async def run(config, input):
    """An answer with each word at the rate that the model's name says; the prompt's rules change nothing."""
    if not config.prompt:
        return "no idea"
    number, _, rate = config.model.name.partition("-")
    return " ".join(["ok", *(word for word in WORDS if coin(number, word) < float(rate))])
'''
MODULE = "agent_of_pasted_assertions"
Answers = Mapping[str, list[str]]
"""The stored answers by mutant; those of the original under the empty id."""
Choice = Callable[[Answers], str]
"""Choose a word by looking at them."""


class Pasted(NamedTuple):
    """What became of the mutants of one project, all of them without effect, in its second run."""

    killed: int
    mutants: int
    problem: str = ""

    @property
    def share(self) -> float:
        """Share of the mutants that were killed; a failed control of the unchanged agent counts as all."""
        return 1.0 if self.problem else self.killed / self.mutants


def most_often(answers: Answers) -> str:
    """Return the word that stands in most answers of the original."""
    return max(WORDS, key=lambda word: _share(answers[""], word))


def most_telling(answers: Answers) -> str:
    """Return the word that tells some mutant from the original best."""
    mutants = [own for mutant, own in answers.items() if mutant]
    return max(WORDS, key=lambda word: _share(answers[""], word) - min(_share(own, word) for own in mutants))


def pasted(folder: Path, number: int, rate: float, choose: Choice, *, aware: bool = True) -> Pasted:
    """Run a project, add `contains:` with the word that is chosen by its stored runs, and run it again.

    `aware`: as the verbs do, which know the age of evaluators; without, as version 0.1.0 did.
    """
    first = measure(_written(folder, number, rate, ()))
    project = _written(folder, number, rate, (choose(_answers(folder, first)),))
    again = measure(project) if aware else _unaware(project)
    killed = sum(row.status is Status.KILLED for row in again.mutants)
    return Pasted(killed, len(again.mutants), again.problem)


def many(
    count: int, rates: Iterable[float], choose: Choice, tables: Path, *, aware: bool = True
) -> dict[float, list[Pasted]]:
    """So many projects at each rate, each with luck of its own."""
    found: dict[float, list[Pasted]] = {}
    for at, rate in enumerate(rates):
        for number in range(count):
            with tempfile.TemporaryDirectory() as folder:
                root = Path(folder)
                (root / FOLDER).mkdir()
                (root / FOLDER / "tables").symlink_to(tables)
                found.setdefault(rate, []).append(pasted(root, 1000 * at + number, rate, choose, aware=aware))
                sys.path.remove(str(root))
    return found


def share_killed(found: Iterable[Pasted]) -> tuple[float, float]:
    """Return the mean share of killed mutants and its standard error over projects: mutants of one are alike."""
    shares = [one.share for one in found]
    spread = statistics.stdev(shares) if len(shares) > 1 else 0.0
    return statistics.mean(shares), max(spread, 1 / MUTANTS / math.sqrt(len(shares))) / math.sqrt(len(shares))


def section(*, thorough: bool, size: int | None = None) -> Section:
    """Measure false kills after an assertion was chosen by stored runs, with and without the age of evaluators.

    A project takes a second of processor time. The choice that people make has most of them: `size`, over all rates.
    """
    count, rates = (size or PROJECTS, RATES) if thorough else (2, (0.93,))
    per_rate = math.ceil(count / len(rates))
    with tempfile.TemporaryDirectory() as tables:
        figures = list(_figures(per_rate, rates, Path(tables)))
    without = max(2, per_rate // 3)
    how = (
        f"Whole projects, each run twice: one scenario, {BASELINE} baseline runs, {MUTANTS} mutants without effect, "
        f"answers of {len(WORDS)} words. Between the runs somebody reads the stored answers and adds `contains:` "
        f"with a word, so that the second run has other evaluators. The word held most often: {per_rate} projects at "
        f"each rate from {rates[0]:g} to {rates[-1]:g}. The word that tells some mutant best: "
        f"{_part(per_rate)} at each. If older runs decided: {without}. The error is that of the mean over projects."
    )
    return Section("In real life: an assertion chosen by stored runs", how, tuple(figures))


def _figures(count: int, rates: tuple[float, ...], tables: Path) -> Iterator[Figure]:
    for choose, what, size in (
        (most_often, "the word held most often", count),
        (most_telling, "the word tells most", _part(count)),
    ):
        found = many(size, rates, choose, tables)
        yield _figure(f"{what}: false kills", [*chain(*found.values())])
        if len(rates) > 1:
            yield from (_figure(f"{what}, rate {rate:g}: false kills", own) for rate, own in found.items())
    without = many(max(2, count // 3), (0.93,), most_often, tables, aware=False)
    rate, error = share_killed(without[0.93])
    yield Figure("if older runs decided, rate 0.93: false kills", rate, "-", error=error)


def _part(count: int) -> int:
    return max(2, count // 10)


def _figure(what: str, found: list[Pasted]) -> Figure:
    rate, error = share_killed(found)
    return Figure(what, rate, "at most 0.05", high=0.05, error=error)


def _share(answers: list[str], word: str) -> float:
    return sum(word in answer.split() for answer in answers) / len(answers)


def _written(folder: Path, number: int, rate: float, words: tuple[str, ...]) -> Project:
    (folder / f"{MODULE}.py").write_text(AGENT.format(words=WORDS))
    rules = [f"- Never provide topic number {i} in your answer." for i in range(MUTANTS)]
    (folder / "prompt.md").write_text("\n".join(rules) + "\n")
    evaluators = [{"contains": word} for word in ("ok", *words)]
    scenario = {"name": "one", "input": "please answer", "evaluators": evaluators}
    (folder / "scenarios.yaml").write_text(yaml.safe_dump([scenario]))
    config = {"prompt": "prompt.md", "model": {"name": f"{number}-{rate}"}}
    described = {
        "version": 1,
        "agent": {"adapter": "python", "run": f"{MODULE}:run", "config": config},
        "suite": {"scenarios": "scenarios.yaml"},
        "mutation": {"operators": ["prompt.drop_instruction"]},
        "statistics": {"baseline": BASELINE, "rounds": "one"},
    }
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(described))
    return load_project(folder)


def _answers(folder: Path, result: Result) -> Answers:
    with open_store(load_project(folder)) as store:
        ids = ("", *(row.id for row in result.mutants))
        return {
            id: [trial.execution.trace.text for trial in store.trials_of(result.run_id, id)] for id in ids
        }


def _unaware(project: Project) -> Result:
    """Return a run that takes all stored trials, whatever their age, and confirms no kill."""
    with open_store(project) as store:
        session = open_session(project)
        plan = make_plan(session, make_mutants(session, Selection()), None, time.time())
        plan = plan.model_copy(update={"rule": plan.rule.model_copy(update={"beside": 0.0})})
        register(store, plan)
        return carry_out_campaign(session, plan, store)
