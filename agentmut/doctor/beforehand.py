"""What can be told of a project before its agent is run: keys that are missing, tools that would really be called."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from agentmut._base import KEYLESS, KEYS, PRIVATE_FOLDER, open_to_others
from agentmut.campaign import Session, kept_lock_needs, process_needs
from agentmut.judging import judges_apart
from agentmut.nouns import AgentConfig, Scenario
from agentmut.recording import why_not_forked
from agentmut.seams import Adapter, AsksNoModel, AsksService, RunsOutside
from agentmut.store import Check
from agentmut.trial import inside

_KEEPS_LOCK = (
    "a call that keeps Python's lock, such as a catastrophic regular expression, would stop all trials there, and the "
    "command would begin again with processes. If the agent may make such a call, write `execution: {isolate: process}`"
)
"""What a call may do that keeps Python's lock, and the remedy."""


def checks(session: Session, variables: Mapping[str, str]) -> Iterator[Check]:
    """Yield what was found in order, and what was not; `variables` are those of the agent's environment."""
    project, config = session.project, session.adapter.get_config()
    scenarios = project.scenarios
    yield Check(
        ok=True, said=f"{project.path.name} reads: {len(scenarios)} scenario{'s' * (len(scenarios) != 1)}"
    )
    if said := open_to_others(project.root / PRIVATE_FOLDER):
        yield Check(ok=False, said=said)
    yield Check(ok=True, said=f"the agent loads ({project.agent.adapter})")
    yield from key_checks(inside(session.adapter), config.model.provider or "", variables)
    yield from tool_checks(config, scenarios, project.safe_tools)
    yield from isolation_checks(session)
    yield from evaluator_checks(session)


def isolation_checks(session: Session) -> Iterator[Check]:
    """Yield where the agent's code may end the process of the campaign, which only processes of its own survive."""
    isolate = session.project.execution.isolate
    if isinstance(inside(session.adapter), RunsOutside) or isolate == "process":
        return
    in_processes = "isolate: auto gives trials processes of their own" if isolate == "auto" else ""
    for need in process_needs(session.project.root):
        if in_processes:
            yield Check(ok=True, said=f"{need}: {in_processes}")
        else:
            yield Check(ok=False, said=f"{need}. Set execution.isolate to `process`, or to `auto`")
    for need in kept_lock_needs(session.adapter, session.scenarios, session.project.root):
        yield Check(ok=True, said=f"{need}: {in_processes or _KEEPS_LOCK}")


def evaluator_checks(session: Session) -> Iterator[Check]:
    """Yield why evaluators that are code of the user's run in a thread, where no call of theirs can be ended."""
    wanted = session.project.execution.isolate_evaluators
    if not any(map(session.tests.runs_users_code, session.tests.evaluators)) or judges_apart(wanted):
        return
    why = f", since {why_not_forked()}" if why_not_forked() else ""
    yield Check(
        ok=wanted == "thread",
        said=f"your evaluators run in a thread{why}: a call of theirs that lets Python run nothing else, such as a "
        "catastrophic regular expression, stops all trials, and the command has to begin again with processes",
    )


def key_checks(adapter: Adapter, provider: str, variables: Mapping[str, str]) -> Iterator[Check]:
    """Check the keys of agents that ask a model with one; other agents need no key, or no variable names it."""
    if isinstance(adapter, AsksNoModel):
        return
    asked = adapter.service if isinstance(adapter, AsksService) else provider
    if asked not in KEYLESS:
        yield key_check(asked, variables)


def key_check(provider: str, variables: Mapping[str, str]) -> Check:
    """Return whether the environment has a key for the provider, or for any where none is named."""
    wanted = KEYS.get(
        provider.lower(), tuple(dict.fromkeys(name for names in KEYS.values() for name in names))
    )
    found = [name for name in wanted if variables.get(name)]
    if found:
        return Check(ok=True, said=f"the environment has {', '.join(found)}")
    return Check(
        ok=False,
        said=f"the environment has none of {', '.join(wanted)}: an agent that calls such a service will be refused. "
        "Set it, or agent.env, unless the agent finds its key elsewhere",
    )


def real_tools(config: AgentConfig, scenarios: Sequence[Scenario], safe: Collection[str]) -> dict[str, int]:
    """Return the tools without a double that are not declared safe, each with the number of such scenarios."""
    if "all" in safe:
        return {}
    missing = {name: sum(name not in s.tools for s in scenarios) for name in config.tool_names}
    return {name: times for name, times in missing.items() if times and name not in safe}


def tool_checks(config: AgentConfig, scenarios: Sequence[Scenario], safe: Collection[str]) -> Iterator[Check]:
    """Yield tools that broken agents may really call, thousands of times."""
    names = config.tool_names
    if not names:
        return
    if unknown := [name for name in safe if name != "all" and name not in names]:
        yield Check(ok=False, said=f"agent.safe_tools names {', '.join(unknown)}: the agent has no such tool")
    real = real_tools(config, scenarios, safe)
    if not real:
        yield Check(ok=True, said="every tool is doubled in every scenario or declared safe")
        return
    where = ", ".join(f"{name} (in {times} of {len(scenarios)} scenarios)" for name, times in real.items())
    yield Check(
        ok=False,
        said=f"neither doubled nor declared safe: {where}. Runs of mutants may really call them, often and with "
        "wrong arguments. Give scenarios `tools:` with stand-ins, or list what does no harm in agent.safe_tools",
    )
