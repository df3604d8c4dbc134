"""Programs as agents, for tests of the adapter `command`."""

import asyncio
import sys
from pathlib import Path
from typing import Any

from agentmut.adapters.command import CommandAdapter
from agentmut.nouns.config import AgentConfig, Document, ModelConfig
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.tools import ToolSpec
from agentmut.seams.protocols.adapter import AgentSpec
from agentmut.trial.single_run import Case, attempt

CONFIG = AgentConfig(
    prompt="Be kind.",
    tools=(ToolSpec(name="look_up"),),
    model=ModelConfig(name="sim-large", temperature=0.5, stop=("END",)),
    context=(Document(name="fees", text="A room is 20."),),
    orchestration={"max_steps": 6, "retries": {"fetch": 2}},
)


def made(*command: str, root: Path, config: AgentConfig = CONFIG, **spec: Any) -> CommandAdapter:
    return CommandAdapter.create(
        AgentSpec(adapter="command", command=command, root=str(root), **spec), config
    )


def python(code: str, *arguments: str, root: Path, **spec: Any) -> CommandAdapter:
    return made(
        sys.executable, "-c", code.replace("{", "{{").replace("}", "}}"), *arguments, root=root, **spec
    )


def ran(adapter: CommandAdapter, *turns: Any, timeout: float = 600.0) -> Execution:
    judged = (EvaluatorSpec(name="contains", argument="x"),)
    case = Case(Scenario(name="s", turns=turns or ("hello",), evaluators=judged), {})
    return asyncio.run(attempt(adapter, case, "trial-1", 0, timeout))


def answer(adapter: CommandAdapter, *turns: Any) -> Any:
    done = ran(adapter, *turns)
    assert done.ending is Ending.ANSWERED, done.reason
    return done.trace.output
