"""The example in JavaScript, as it is: what reaches the model service of its mutants, and what their witnesses say."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web

from agentmut.campaign.preparation.executors import local_executor
from agentmut.campaign.preparation.session import Session, open_session
from agentmut.campaign.selection.choosing import make_mutants
from agentmut.campaign.selection.selection import Selection
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.mutant import Mutant
from agentmut.project.loading import load_project
from agentmut.trial.executor import TrialRequest
from agentmut.trial.witness.witness import Detector, Route
from tests.loopback import served

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "node_agent"
NEEDED = 20
PATIENCE = 600.0
OFFLINE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH", "network")


def _lacking() -> str:
    """What is missing for this file's tests."""
    if not (shutil.which("node") and shutil.which("npm")):
        return "needs node and npm"
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, timeout=600).stdout
    return (
        "" if int(version.lstrip("v").partition(".")[0] or 0) >= NEEDED else f"needs node {NEEDED} or later"
    )


lacking = _lacking()
pytestmark = [pytest.mark.process, pytest.mark.skipif(bool(lacking), reason=lacking)]


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's node_modules, installed once for all workers of a test session."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "node_agent_libraries"
    done = folder / "done"
    try:
        folder.mkdir()
    except FileExistsError:
        until = time.monotonic() + PATIENCE
        while not done.exists() and time.monotonic() < until:
            time.sleep(0.1)
    else:
        done.write_text(_installed(folder))
    said = done.read_text()
    if any(word in said for word in OFFLINE):
        pytest.skip(f"npm cannot reach its registry: {said[-300:]}")
    assert not said, said
    return folder / "node_modules"


def _installed(folder: Path) -> str:
    """Run `npm ci`; what went wrong, if anything."""
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(EXAMPLE / name, folder)
    ran = subprocess.run(
        ["npm", "ci", "--prefer-offline"], cwd=folder, capture_output=True, text=True, timeout=PATIENCE
    )
    return ran.stderr if ran.returncode else ""


@pytest.fixture
def project(libraries: Path, tmp_path: Path) -> Path:
    """A copy of the example."""
    folder = tmp_path / "node_agent"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns(".agentmut", "node_modules"))
    (folder / "node_modules").symlink_to(libraries)
    return folder


@dataclass
class Service:
    """Passes requests on to the simulator, and keeps their bodies by trial."""

    upstream: str
    bodies: dict[str, list[Any]] = field(default_factory=dict)
    url: str = ""

    async def handle(self, http: web.Request) -> web.Response:
        body = await http.read()
        trial = http.headers["x-agentmut-trial"]
        self.bodies.setdefault(trial, []).append(json.loads(body))
        headers = {"content-type": "application/json", "x-agentmut-trial": trial}
        async with (
            ClientSession() as session,
            session.post(f"{self.upstream}/chat/completions", data=body, headers=headers) as reply,
        ):
            kind = reply.content_type
            return web.Response(status=reply.status, body=await reply.read(), content_type=kind)


@pytest.fixture
def service(loop_thread: Any, simulator_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    found = Service(simulator_url)

    with served(loop_thread, {"/v1/chat/completions": found.handle}) as address:
        found.url = f"{address}/v1"
        monkeypatch.setenv("OPENAI_BASE_URL", found.url)
        monkeypatch.setenv("OPENAI_API_KEY", "simulated")
        yield found


def system(body: Any) -> str:
    return str(body["messages"][0]["content"])


def offered(body: Any) -> list[str]:
    return [tool["function"]["name"] for tool in body["tools"]]


def said(bodies: Sequence[Any], role: str) -> list[str]:
    """What the last request holds of one role."""
    return [message["content"] for message in bodies[-1]["messages"] if message["role"] == role]


def renamed_everywhere(bodies: Sequence[Any]) -> bool:
    calls = [c["function"]["name"] for m in bodies[-1]["messages"] for c in m.get("tool_calls") or ()]
    names = {*calls, *(name for body in bodies for name in offered(body))}
    return "renew_loan" not in names and len(set(calls)) == 2 and set(calls) < set(offered(bodies[0]))


CARD = '{"reader":"Ada Brook","fee":0,"phone":"555 0147"}'
Expected = Callable[[Sequence[Any]], bool]
Cases = dict[tuple[str, str], tuple[str, Route, Expected]]
CASES: Cases = {
    ("prompt.drop_instruction", "phone"): (
        "saturday", Route.SENT, lambda bodies: not any("phone number" in system(body) for body in bodies)
    ),
    ("prompt.change_number", "60"): (
        "saturday", Route.SENT, lambda bodies: not any("under 60 words" in system(body) for body in bodies)
    ),
    ("tool.rename", "renew_loan"): ("renewal", Route.SENT, renamed_everywhere),
    ("tool.remove", "report_loss"): (
        "loss", Route.SENT, lambda bodies: all(offered(b) == ["check_card", "renew_loan"] for b in bodies)
    ),
    ("tool.decoy", ""): ("renewal", Route.SENT, lambda bodies: all(len(offered(body)) == 4 for body in bodies)),
    ("tool.result_empty", "check_card"): ("renewal", Route.LIVE, lambda bodies: CARD not in said(bodies, "tool")),
    ("model.downgrade", "sim-small"): (
        "renewal", Route.SENT, lambda bodies: {body["model"] for body in bodies} == {"sim-small"}
    ),
    ("model.drop_seed", ""): ("loss", Route.SENT, lambda bodies: not any("seed" in body for body in bodies)),
    ("context.drop_document", "opening-hours"): (
        "saturday", Route.SENT, lambda bodies: not any("10 to 14" in system(body) for body in bodies)
    ),
    ("context.drop_history", ""): (
        "conversation", Route.LIVE, lambda bodies: said(bodies, "user") == ["Please renew my loan."]
    ),
    ("orchestration.cut_max_steps", ""): ("renewal", Route.SENT, lambda bodies: len(bodies) == 2),
}  # fmt: skip
"""By operator and a word of its description: the scenario, where the witness is, and what the service has seen."""
OF_REPLIES = ("tool.rename", "tool.result_empty", "context.drop_history")
"""Which change or need what is in a reply; to requests it is all the same whether they ask for a stream."""


def chosen(session: Session, cases: Cases) -> dict[tuple[str, str], Mutant]:
    operators = tuple(dict.fromkeys(operator for operator, _ in cases))
    made = make_mutants(session, Selection(operators_named=operators, sample=10_000)).mutants
    found = {case: [m for m in made if m.operator == case[0] and case[1] in m.description] for case in cases}
    assert [case for case, mutants in found.items() if not mutants] == []
    return {case: mutants[0] for case, mutants in found.items()}


@pytest.mark.parametrize("streamed", [False, True])
def test_the_service_sees_every_mutant_and_the_witness_agrees(
    project: Path, service: Service, streamed: bool
) -> None:
    if streamed:
        settings = project / "agentmut.yaml"
        settings.write_text(settings.read_text().replace("agent.js,", "agent.js, --stream,"))
    session = open_session(load_project(project))
    cases = {case: found for case, found in CASES.items() if not streamed or case[0] in OF_REPLIES}
    mutants = chosen(session, cases)
    ran = asyncio.run(_executed(session, mutants))
    plain = ran["renewal"]
    assert plain.trace.tools_called == ("check_card", "renew_loan") and "3 more weeks" in plain.trace.text
    assert plain.trace.exit_code == 0
    for case, (scenario, route, expected) in cases.items():
        done, bodies = ran[case], service.bodies[_id(case)]
        assert done.ending in (Ending.ANSWERED, Ending.EMPTY_ANSWER), (case, done.reason)
        assert all(body.get("stream", False) is streamed for body in bodies)
        assert expected(bodies) and not expected(service.bodies[_id(scenario)]), (case, bodies)
        detector = Detector(mutants[case], session.suite.full)
        witness = detector.witness(done.footprint)
        assert witness is not None and witness.route is route, case
        told = case[0].startswith("orchestration.")  # by an argument, which the agent as it is has too
        assert told or detector.witness(ran[scenario].footprint) is None, case
    # renamed on the wire only: the agent has carried out the tool that it knows
    renamed = ran["tool.rename", "renew_loan"].trace
    assert [step.output for step in renamed.tool_calls if step.tool == "renew_loan"] == [
        '{"renewed":true,"until":"14 May"}'
    ]


async def _executed(session: Session, mutants: dict[tuple[str, str], Mutant]) -> dict[Any, Execution]:
    """One trial of each mutant on its scenario, and one of the agent as it is on each scenario."""
    wanted: dict[Any, tuple[Mutant | None, str]] = {
        scenario: (None, scenario) for scenario in (CASES[case][0] for case in mutants)
    }
    wanted |= {case: (mutant, CASES[case][0]) for case, mutant in mutants.items()}
    executor, places = local_executor(session), asyncio.Semaphore(3)

    async def one(case: Any) -> Execution:
        async with places:
            return await executor.execute(TrialRequest(*wanted[case], _id(case)))

    async with executor.session():
        return dict(zip(wanted, await asyncio.gather(*map(one, wanted)), strict=True))


def _id(case: Any) -> str:
    return "-".join((case,) if isinstance(case, str) else case).replace(".", "-")


def test_the_example_is_measured_through_the_simulator(project: Path) -> None:
    settings = project / "agentmut.yaml"
    settings.write_text(
        settings.read_text().replace("baseline: 20, n_max: 40", "baseline: 10, n_max: 10, delta: 0.9")
    )
    agentmut = [sys.executable, "-IS", str(ROOT / "tests" / "testdata" / "warm_cli.py")]
    chosen = ["--scenario", "saturday", "--operator", "context.drop_document"]
    done = subprocess.run(
        [*agentmut, "simulate", "--", *agentmut, "run", "--project", str(project), "--yes", "--json", *chosen],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (mutant,) = json.loads(done.stdout)["mutants"]
    assert (mutant["status"], mutant["witness"]["route"]) == ("killed", "sent")


def test_the_lock_file_names_no_registry() -> None:
    lock = (EXAMPLE / "package-lock.json").read_text()
    assert "resolved" not in lock and "http" not in lock
    assert "integrity" in lock
