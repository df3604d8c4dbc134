"""In a notebook a bar shows how far a run is, an interrupt of the kernel ends it, and a result shows its figures."""

import asyncio
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml

from agentmut.nouns.mutant import Status
from agentmut.usecases import notebook
from agentmut.usecases.campaign_progress import CampaignProgress
from agentmut.usecases.campaigns import measure
from agentmut.usecases.deployment_gate import gate
from agentmut.usecases.planning import plan
from agentmut.usecases.relations import check_relations
from agentmut.usecases.suite_verdicts import check_suite, compare_with_baseline, save_baseline
from agentmut.usecases.trends import trend
from tests.report.results import result, row

AGENT = """
async def run(config, input):
    return "hello" if "greet" in config.prompt else "hm"
"""


class Kernel(ModuleType):
    """IPython as far as it is used: a shell with a kernel, and a display that keeps what it was shown."""

    def __init__(self) -> None:
        super().__init__("IPython")
        self.shown: list[str] = []
        self.interrupts = 0

    def get_ipython(self) -> Any:
        return SimpleNamespace(kernel=object())

    def display(self, html: str, display_id: bool) -> Any:
        assert display_id
        return SimpleNamespace(update=self.update)

    def update(self, html: str) -> None:
        self.shown.append(html)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    found = Kernel()
    display = ModuleType("IPython.display")
    display.display, display.HTML = found.display, str  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", found)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(notebook, "EACH", 0.02)
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    module = f"agent_in_{tmp_path.name}"
    (tmp_path / f"{module}.py").write_text(AGENT)
    agent = {"adapter": "python", "run": f"{module}:run", "config": {"prompt": "Always greet. Be brief."}}
    settings = {
        "version": 1,
        "agent": agent,
        "suite": {"scenarios": "s.yaml"},
        "mutation": {"operators": ["prompt.drop_instruction"]},
    }
    (tmp_path / "agentmut.yaml").write_text(yaml.safe_dump(settings))
    suite = [{"name": "greets", "input": "hi", "evaluators": [{"contains": "hello"}]}]
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(suite))
    return tmp_path


@pytest.mark.whole
def test_a_cell_measures_beside_the_loop_of_its_kernel_and_shows_a_bar(kernel: Kernel, project: Path) -> None:
    async def cell() -> Any:
        return measure(project)

    found = asyncio.run(cell())
    assert found.status == "finished"
    assert all(shown.startswith('<progress max="1" value="') for shown in kernel.shown)
    assert any("baseline" in shown or "mutants" in shown for shown in kernel.shown)


def test_a_cell_checks_plans_and_compares_beside_the_loop_of_its_kernel(
    kernel: Kernel, project: Path
) -> None:
    async def cell() -> Any:
        checked = check_suite(project, trials=20, method="fixed")
        saved = save_baseline(project, trials=20)
        compared = compare_with_baseline(project, fresh=True, method="fixed", trials=20)
        return (
            checked,
            saved,
            compared,
            plan(project),
            trend(project),
            gate(project),
            check_relations(project),
        )

    checked, saved, compared, planned, trended, decided, related = asyncio.run(cell())
    assert (checked.kind, compared.kind) == ("test", "compare")
    assert saved.name == "default"
    assert planned.scenarios == 1
    assert trended.kind == "trend"
    assert decided.decision
    assert related.status == "finished"
    assert not any('value="' in shown for shown in kernel.shown if "trials" in shown)


def test_an_interrupt_of_the_kernel_ends_the_call(kernel: Kernel) -> None:
    def call(progress: Any) -> None:
        while True:
            progress(SimpleNamespace())

    beside: Any = notebook.BesideKernel(call, lambda state: CampaignProgress(0.0, "x"))
    beside._stopped = True  # as after the KeyboardInterrupt that a kernel raises where the cell waits
    with pytest.raises(KeyboardInterrupt):
        beside.result()


def test_an_error_of_the_call_is_raised_in_the_cell(kernel: Kernel) -> None:
    def call(progress: Any) -> None:
        raise ValueError("no such project")

    with pytest.raises(ValueError, match="no such project"):
        notebook.BesideKernel(call, notebook.spent_so_far).result()


def test_without_a_kernel_nothing_is_different() -> None:
    assert not notebook.in_notebook()


def test_a_result_shows_its_score_and_its_survivors_and_runs_nothing_that_a_model_wrote() -> None:
    evil = row("bbbbbbbb", Status.SURVIVED, description="drop <script>alert(1)</script>")
    html = result(row("aaaaaaaa", Status.KILLED), evil)._repr_html_()
    assert "1 killed, 1 survived, 0 no coverage" in html
    assert "<td>bbbbbbbb</td><td>tools.py:7</td><td>drop &lt;script&gt;" in html
    assert "<script" not in html
    assert "aaaaaaaa" not in html
