"""Campaigns whose traces are written by hand, in a real store of a real project. Benchmarks use them too."""

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from agentmut.campaign.preparation.plans import make_plan
from agentmut.campaign.preparation.session import open_session
from agentmut.campaign.running.stored import StoredCampaign
from agentmut.campaign.selection.choosing import make_mutants
from agentmut.campaign.selection.selection import Selection
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.trace import Action, AgentTrace, Step, Usage
from agentmut.project.loading import load_project
from agentmut.store.rows import StoredRun, StoredTrial
from agentmut.store.store import Store

AGENT = "def run(config, input):\n    return 'fine'\n"


def trace(
    *calls: str | tuple[str, dict[str, Any]], answer: Any = "All is fine.", usd: float = 0.001, extra: int = 0
) -> AgentTrace:
    """A run: a model call before each tool call and before the answer, and `extra` ones."""
    thinking = Step(action=Action.REASON, model="m", usd=usd, usage=Usage(output_tokens=9))
    steps = [thinking] * extra
    for call in calls:
        tool, arguments = (call, {}) if isinstance(call, str) else call
        steps += [thinking, Step(action=Action.CALL_TOOL, tool=tool, arguments=arguments)]
    return AgentTrace(steps=(*steps, thinking, Step(action=Action.RESPOND, output=answer)), outputs=(answer,))


Traces = Mapping[str, Mapping[str, Sequence[AgentTrace | Execution]]]


def stored(mutant: str, scenario: str, runs: Sequence[AgentTrace | Execution]) -> list[StoredTrial]:
    return [
        StoredTrial(
            f"{mutant}/{scenario}/{repeat}",
            mutant,
            scenario,
            repeat,
            run if isinstance(run, Execution) else Execution(ending=Ending.ANSWERED, trace=run),
            1.0,
        )
        for repeat, run in enumerate(runs)
    ]


def campaign_of(
    folder: Path,
    traces: Traces,
    evaluators: Sequence[Any] = ({"max_steps": 60},),
    prompt: str = "- Be kind.\n- Be brief.\n- Never shout.\n",
    tools: Sequence[str] = (),
    asked: str = "hi",
) -> StoredCampaign:
    """A campaign in `folder` with these traces; its store is to be closed."""
    module = re.sub(r"\W", "_", f"agent_of_{folder.parent.name}")
    (folder / f"{module}.py").write_text(AGENT)
    (folder / "prompt.md").write_text(prompt)
    suite = [{"name": name, "input": asked, "evaluators": list(evaluators)} for name in traces[""]]
    (folder / "scenarios.yaml").write_text(yaml.safe_dump(suite))
    run_by = f"{module}:run"
    agent = {"adapter": "python", "run": run_by, "config": {"prompt": "prompt.md"}}
    if tools:
        offered = [
            {"name": name, "description": f"Does {name.replace('_', ' ')}.", "parameters": {}}
            for name in tools
        ]
        agent["config"] = {"prompt": "prompt.md", "tools": offered}
    document = {"version": 1, "agent": agent, "suite": {"scenarios": "scenarios.yaml"}}
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(document))
    session = open_session(load_project(folder))
    plan = make_plan(session, make_mutants(session, Selection()), 1, time.time())
    store = Store(folder / "store.db")
    run = StoredRun(plan.run_id, plan.started, plan.model_dump_json(), "finished")
    store.add_run(run)
    for mutant, by_scenario in traces.items():
        for scenario, runs in by_scenario.items():
            store.save(plan.run_id, stored(mutant, scenario, runs))
    original: dict[str, tuple[StoredTrial, ...]] = {}
    for trial in store.trials_of(plan.run_id, ""):
        original[trial.scenario] = (*original.get(trial.scenario, ()), trial)
    return StoredCampaign(session, store, run, plan, original)
