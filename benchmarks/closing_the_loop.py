"""docs/closing-the-loop.md: from a thin suite by `run`, `suggest`, apply and `rescore` to a better one.

`make closing-the-loop` runs it on three agents against the offline simulator. All suggestions are applied as they come,
which a person would not do: each rests on what the agent did, right or wrong.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from agentmut.campaign.preparation.session import Session, open_session
from agentmut.campaign.running.stored import stored_campaign
from agentmut.insight.coverage.nouns import Coverage
from agentmut.insight.coverage.project_coverage import project_coverage
from agentmut.insight.explain.mining import suggest_assertions, survivors
from agentmut.nouns.mutant import Status
from agentmut.nouns.result import Result
from agentmut.nouns.result_figures import Score
from agentmut.nouns.suggestion import AssertionSuggestion
from agentmut.project.loading import load_project
from agentmut.project.project import Project
from agentmut.simulator.service.background import Simulator
from agentmut.simulator.service.service_settings import read_settings
from agentmut.store.documents.rescored import Rescored
from agentmut.store.store import Store
from agentmut.usecases.campaigns import carry_out_rescore, measure, rescore
from agentmut.usecases.runtime import agent_environment, open_store
from agentmut.usecases.suggestions import Proposed, apply, keep_suggestions, searched_suggestions

ROOT = Path(__file__).parent.parent
SEED = 1
SEARCH = 150
"""Most agent runs of a search for scenarios."""
HEAD = """# Closing the loop

Made by `make closing-the-loop` from commit {commit}; do not edit. Three agents on the offline simulator, which is no
real model: read the figures as a check that the loop works, not as rates to expect.

Each starts from a thin suite, a few scenarios with one weak evaluator each. `agentmut run` measures it.
`agentmut suggest --scenarios` (seed {seed}, at most {search} agent runs) proposes assertions and scenarios. All of
them are applied unread, which a script does and a person should not. `agentmut rescore` judges the stored runs by the
new assertions, at no cost. `agentmut run` measures the new suite afresh.

The first two agents use the tools, environments and checks of AgentDojo (`examples/agentdojo`); the suite of
`support_desk` is cut down to five scenarios.
"""
TRANSFER = """
## Do assertions kill more than what they were mined from?

The survivors of the first run are sorted by id, and every second one is held out; then the other half is. Assertions
are mined from the rest and accepted as `suggest` accepts them. Each is then added to the thin suite alone, and the
stored runs are rescored. "Transfer" counts the assertions that kill a mutant which was held out. A survivor whose
behaviour has not changed is killed by no assertion.

| agent | survivors | accepted | kill another mutant | transfer | mutants killed while held out |
| --- | ---: | ---: | ---: | ---: | ---: |"""


OPERATORS = [
    "prompt.drop_instruction",
    "prompt.negate",
    "prompt.drop_section",
    "prompt.weaken_modality",
    "tool.remove",
    "tool.result_error",
    "model.downgrade",
]
MUTATION = {"operators": OPERATORS, "sample": 40, "downgrade_models": ["sim-small"]}
"""The same for all: several ways for each part of an agent to go wrong."""


class Thin(NamedTuple):
    """A project, and the evaluator that is left of each scenario of the thin suite; None leaves all as it is."""

    name: str
    folder: str
    file: str = "agentmut.yaml"
    kept: Mapping[str, dict[str, Any]] | None = None
    sections: Mapping[str, Mapping[str, Any]] = {"mutation": MUTATION}
    """Sections of the project file, put in the place of what it says."""


AGENTS = (
    Thin("AgentDojo banking", "agentdojo", "banking.yaml"),
    Thin("AgentDojo workspace", "agentdojo", "workspace.yaml"),
    Thin(
        "support_desk",
        "support_desk",
        kept={
            "order_status": {"tool_called": "lookup_order"},
            "refund_of_a_recent_order": {"tool_called": "issue_refund"},
            "broken_on_arrival": {"tool_called": "issue_refund"},
            "cancel_before_shipping": {"tool_called": "cancel_order"},
            "return_deadline": {"contains": "30 days"},
        },
    ),
)


class Transfer(NamedTuple):
    """What became of the mutants that were not used."""

    survivors: int
    accepted: int
    others: int
    """Assertions that kill a mutant beside the one they were mined from."""
    transferred: int
    """Assertions that kill a mutant that was held out."""
    killed: int
    """Mutants that an assertion kills which was mined without them."""


class Loop(NamedTuple):
    """One agent's way around."""

    before: Result
    covered: Coverage
    proposed: Proposed
    rescored: Rescored
    after: Result
    covered_after: Coverage
    transfer: Transfer

    @property
    def raised(self) -> bool:
        """Return whether score and coverage have risen."""
        score, coverage = _value(self.before.score), self.covered.overall or 0.0
        return _value(self.after.score) > score and (self.covered_after.overall or 0.0) > coverage


class Told(NamedTuple):
    """What the page says of one agent."""

    cells: tuple[str, ...]
    transfer: Transfer
    applied: tuple[str, ...]
    raised: bool


def main(arguments: Sequence[str]) -> int:
    """Print the page; 1 where the loop does not raise score and coverage, or assertions do not transfer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of the name of the agents to take")
    wanted = parser.parse_args(arguments).only
    commit = _commit()
    names = [thin.name for thin in AGENTS if wanted in thin.name]
    with ProcessPoolExecutor(
        len(names), get_context("spawn")
    ) as pool:  # agents have modules of the same name
        found = dict(zip(names, pool.map(told, names), strict=True))
    print(HEAD.format(commit=commit, seed=SEED, search=SEARCH))
    print("\n".join(_table(found)))
    print(TRANSFER)
    print("\n".join(_transfers(found)))
    print("\n".join(_listed(found)))
    return 0 if all(each.raised for each in found.values()) and _transfers_enough(found.values()) else 1


def told(name: str) -> Told:
    """Return the figures of one agent."""
    loop = closed(next(thin for thin in AGENTS if thin.name == name))
    cells = tuple(tell(loop) for tell in ROWS.values())
    return Told(cells, loop.transfer, tuple(_applied(loop)), loop.raised)


def _transfers_enough(found: Collection[Told]) -> bool:
    """Return whether at least half of the accepted assertions kill mutants that were not used to mine them."""
    transferred = sum(each.transfer.transferred for each in found)
    return 2 * transferred >= sum(each.transfer.accepted for each in found) > 0


def closed(thin: Thin, search: int = SEARCH) -> Loop:
    """Run the loop on a copy, against a simulator of its own."""
    with tempfile.TemporaryDirectory() as folder, _forgetting(Path(folder)), _simulated():
        return around(thin_project(thin, Path(folder) / "project"), search)


def thin_project(thin: Thin, folder: Path) -> Path:
    """Return the file of a copy of the project, with the thin suite."""
    shutil.copytree(ROOT / "examples" / thin.folder, folder, ignore=shutil.ignore_patterns(".agentmut"))
    file = folder / thin.file
    written = {**yaml.safe_load(file.read_text()), **thin.sections}
    if thin.kept is not None:
        for path in (folder / "scenarios").glob("*.yaml"):
            suite = [entry for entry in yaml.safe_load(path.read_text()) if entry["name"] in thin.kept]
            cut = [{**entry, "evaluators": [thin.kept[entry["name"]]]} for entry in suite]
            path.write_text(yaml.safe_dump(cut, sort_keys=False)) if cut else path.unlink()
    file.write_text(yaml.safe_dump(written, sort_keys=False))
    return file


def around(file: Path, search: int) -> Loop:
    """run, suggest, apply, rescore, run."""
    before = _told("run", measure(file, seed=SEED))
    with _opened(file) as (project, session, store):
        covered = project_coverage(session, store)
        transfer = transfer_of(session, store, before)
        proposed = searched_suggestions(
            session, store, now=time.time(), run=before.run_id, seed=SEED, trials=search
        )
    _say(
        f"suggest: {len(proposed.suggestions.assertions)} assertions, {len(proposed.suggestions.scenarios)} scenarios"
    )
    keep_suggestions(project, proposed.suggestions)
    ids = [one.id for one in proposed.suggestions.assertions]
    ids += [one.id for one in proposed.suggestions.scenarios]
    if ids:
        apply(project, ids)
    rescored = rescore(file, before.run_id)
    after = _told("run", measure(file, seed=SEED))
    with _opened(file) as (_, session, store):
        covered_after = project_coverage(session, store)
    return Loop(before, covered, proposed, rescored, after, covered_after, transfer)


def transfer_of(session: Session, store: Store, result: Result) -> Transfer:
    """Mine assertions from each half of the survivors and see which of the other half they kill; all on stored runs."""
    campaign = stored_campaign(session, store, result.run_id)
    rows = sorted(survivors(campaign), key=lambda row: row.id)
    accepted = others = transferred = 0
    killed: set[str] = set()
    for mined, rest in ((rows[0::2], rows[1::2]), (rows[1::2], rows[0::2])):
        held_out = {row.id for row in rest}
        for assertion in suggest_assertions(campaign, mined):
            kills = _kills(session, store, result, assertion)
            accepted += 1
            others += bool(kills - {assertion.mutants[0]})
            transferred += bool(kills & held_out)
            killed |= kills & held_out
    return Transfer(len(rows), accepted, others, transferred, len(killed))


def _kills(session: Session, store: Store, result: Result, assertion: AssertionSuggestion) -> frozenset[str]:
    """Return the mutants that only the assertion kills, by rescoring with it alone."""
    project = session.project
    scenarios = tuple(
        s.model_copy(update={"evaluators": (*s.evaluators, assertion.evaluator)})
        if s.name == assertion.scenario
        else s
        for s in project.scenarios
    )
    with_it = open_session(project.model_copy(update={"scenarios": scenarios}))
    flipped = carry_out_rescore(with_it, store, result.run_id).flipped
    return frozenset(flip.mutant for flip in flipped if flip.after is Status.KILLED)


@contextmanager
def _opened(file: Path) -> Iterator[tuple[Project, Session, Store]]:
    project = load_project(file)
    with agent_environment(project), open_store(project) as store:
        yield project, open_session(project), store


@contextmanager
def _forgetting(folder: Path) -> Iterator[None]:
    """Modules of the project are forgotten afterwards: the next one may have some of the same name."""
    try:
        yield
    finally:
        inside = str(folder.resolve())
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(inside):
                del sys.modules[name]
        sys.path[:] = [entry for entry in sys.path if not entry.startswith(inside)]


@contextmanager
def _simulated() -> Iterator[None]:
    with Simulator(read_settings()) as simulator:
        before = dict(os.environ)
        os.environ.update(simulator.environment)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _table(found: Mapping[str, Told]) -> Iterator[str]:
    yield f"| | {' | '.join(found)} |"
    yield f"| --- |{' ---: |' * len(found)}"
    for number, label in enumerate(ROWS):
        yield f"| {label} | {' | '.join(each.cells[number] for each in found.values())} |"


def _gaps(result: Result) -> str:
    counts = {
        gap: sum(row.gap == gap for row in result.mutants) for gap in ("assertion", "scenario", "unknown")
    }
    return ", ".join(f"{count} {gap}" for gap, count in counts.items())


ROWS: dict[str, Callable[[Loop], str]] = {
    "scenarios before": lambda loop: str(len(loop.before.baseline)),
    "mutants": lambda loop: str(len(loop.before.mutants)),
    "**score before**": lambda loop: f"**{_score(loop.before.score)}**",
    "gaps of the survivors": lambda loop: _gaps(loop.before),
    "**coverage before** (overall)": lambda loop: f"**{_share(loop.covered.overall)}**",
    "agent runs of the campaign": lambda loop: str(loop.before.cost.trials),
    "assertions proposed and applied": lambda loop: str(len(loop.proposed.suggestions.assertions)),
    "scenarios proposed and applied": lambda loop: str(len(loop.proposed.suggestions.scenarios)),
    "agent runs of the search": lambda loop: str(
        loop.proposed.searched.asked if loop.proposed.searched else 0
    ),
    "score of the same runs, rescored": lambda loop: _score(loop.rescored.after),
    "needs of further runs, one for each mutant and reason": lambda loop: str(len(loop.rescored.fresh)),
    "**score after**, run again": lambda loop: f"**{_score(loop.after.score)}**",
    "**coverage after** (overall)": lambda loop: f"**{_share(loop.covered_after.overall)}**",
    "agent runs of the second campaign (reused)": lambda loop: (
        f"{loop.after.cost.trials} ({loop.after.cost.reused})"
    ),
}


def _transfers(found: Mapping[str, Told]) -> Iterator[str]:
    for name, each in found.items():
        yield f"| {name} | {' | '.join(map(str, each.transfer))} |"
    accepted = sum(each.transfer.accepted for each in found.values())
    transferred = sum(each.transfer.transferred for each in found.values())
    yield f"\nOf {accepted} accepted assertions, {transferred} transfer."


def _listed(found: Mapping[str, Told]) -> Iterator[str]:
    for name, each in found.items():
        yield f"\n## What was applied to {name}\n"
        yield from each.applied


def _applied(loop: Loop) -> Iterator[str]:
    for assertion in loop.proposed.suggestions.assertions:
        said = {assertion.evaluator.name: assertion.evaluator.argument}
        yield f"- `{assertion.scenario}`: `{said}` (kills {len(assertion.mutants)})"
    for proposal in loop.proposed.suggestions.scenarios:
        turns = " / ".join(map(str, proposal.scenario.turns))
        adds = ", ".join(f"`{item}`" for item in proposal.adds) or "nothing"
        yield f'- new scenario "{turns}": adds {adds}; kills {len(proposal.kills)}'


def _score(score: Score) -> str:
    return f"{_share(score.value)} [{_share(score.low)}, {_share(score.high)}]"


def _share(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"


def _value(score: Score) -> float:
    return score.value or 0.0


def _told(what: str, result: Result) -> Result:
    if result.status != "finished":
        raise SystemExit(f"the campaign ended as {result.status}: its score cannot be compared")
    _say(
        f"{what}: score {_score(result.score)}, {result.cost.trials} agent runs, {result.cost.seconds:.0f} s"
    )
    return result


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
