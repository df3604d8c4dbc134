"""A CrewAI crew: read, and copied with changes. The crew itself stays untouched."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crewai import Agent, Crew, Process, Task
from crewai.tasks.conditional_task import ConditionalTask
from crewai.utilities.i18n import get_i18n
from pydantic import JsonValue

from agentmut._base import AdapterError, nearest
from agentmut.adapters._shared.change import Change
from agentmut.adapters.crewai.copy import changed_model, copy_of, model_of
from agentmut.adapters.crewai.flow import FIRST, flow_of, joined, named, order_of, rewritten
from agentmut.adapters.crewai.quiet_crews import keep_to_itself
from agentmut.adapters.crewai.tools import offered, spec_of, told_name
from agentmut.nouns import Flow, ModelConfig, ToolSpec


@dataclass(frozen=True)
class Team:
    """The agents of a crew by role, its tasks by name, and the agent whose texts and model are changed."""

    crew: Crew
    agents: dict[str, Agent]
    tasks: dict[str, Task]
    changed_role: str

    @classmethod
    def from_crew(cls, crew: Crew, chosen: JsonValue = None) -> "Team":
        """Check that the crew can be copied. Raise `AdapterError` if a copy would differ."""
        agents = _by_role([*crew.agents, *filter(None, [crew.manager_agent])])
        names = named([task.name for task in crew.tasks])
        tasks = dict(zip(names, crew.tasks, strict=True))
        for name, task in tasks.items():
            _check(name, task, agents)
        if chosen is not None and chosen not in agents:
            known = nearest(str(chosen), agents)
            raise AdapterError(
                f"agent.options.agent: the crew has no agent with the role {chosen!r}. {known}"
            )
        if not agents:
            raise AdapterError("the crew has no agents")
        return cls(crew, agents, tasks, str(chosen or next(iter(agents))))

    @property
    def changed_agent(self) -> Agent:
        """Return the agent whose texts and model are changed."""
        return self.agents[self.changed_role]

    @property
    def _able_agent(self) -> Agent:
        """Return the agent that gets a mutant's additional tools: CrewAI refuses managers with tools."""
        manages = self.changed_agent is self.crew.manager_agent and self.crew.agents
        return self.crew.agents[0] if manages else self.changed_agent

    @property
    def texts(self) -> dict[str, str]:
        """Return the texts of the changed agent and of its tasks, by heading."""
        return {heading: getattr(*place) or "" for heading, place in self._places().items()}

    @property
    def prompt(self) -> str:
        """Return the texts of the changed agent and of its tasks, under their headings."""
        return joined(self.texts)

    @property
    def model(self) -> ModelConfig:
        """Return the name and settings of the changed agent's model."""
        return model_of(self.changed_agent.llm)

    @property
    def tools(self) -> list[ToolSpec]:
        """Return the tools of all agents and tasks."""
        owners = [*self.agents.values(), *self.tasks.values()]
        return [spec_of(tool) for owner in owners for tool in owner.tools or ()]

    @property
    def flow(self) -> dict[str, JsonValue]:
        """Return the order of the tasks, what each is passed, who may delegate to whom, limits and retries."""
        names = {id(task): name for name, task in self.tasks.items()}
        given = list(self.tasks)
        # where tasks run at once, they are told of one earlier task at most, which depends on the others
        at_once = any(task.async_execution for task in self.crew.tasks)
        passed = {
            name: [names[id(one)] for one in task.context if id(one) in names]
            if isinstance(task.context, list)
            else given[: 0 if at_once else given.index(name)]
            for name, task in self.tasks.items()
        }
        plain = not at_once and not any(isinstance(task, ConditionalTask) for task in self.crew.tasks)
        retries: dict[str, JsonValue] = {role: agent.max_retry_limit for role, agent in self.agents.items()}
        return {
            "max_steps": self.changed_agent.max_iter,
            "retries": retries,
            **flow_of(passed, in_a_row=plain),
            **self._delegation(),
        }

    def changed(self, change: Change, prompt: str) -> "Team":
        """Return a copy of the crew with `change`; `prompt` is the original's."""
        crew = copy_of(self.crew)
        keep_to_itself(crew)
        team = Team.from_crew(crew, self.changed_role)
        team._put_texts(change, prompt)
        team._put_tools(change)
        if change.model:
            team.changed_agent.llm = changed_model(team.changed_agent.llm, change.model)
        team._put_flow(change)
        return team

    def _places(self) -> dict[str, tuple[Any, str]]:
        agent = self.changed_agent
        places: dict[str, tuple[Any, str]] = {FIRST: (agent, "backstory"), "Goal": (agent, "goal")}
        manager = self.crew.manager_agent or agent  # does what is no agent's
        for name, task in self.tasks.items():
            if agent is (task.agent or manager):
                places[f"Task: {name}"] = (task, "description")
                places[f"Expected output: {name}"] = (task, "expected_output")
        return places

    def _put_texts(self, change: Change, prompt: str) -> None:
        places = self._places()
        if change.wanted.prompt != change.found.prompt:
            for heading, text in rewritten(self.texts, prompt, change.wanted.prompt).items():
                setattr(*places[heading], text)
        documents = [document.wrapped for document in change.wanted.context]
        agent = self.changed_agent
        agent.backstory = "\n\n".join(filter(None, [agent.backstory, *documents]))

    def _put_tools(self, change: Change) -> None:
        able = self._able_agent
        for agent in self.agents.values():
            agent.memory, agent.verbose = None, False
            agent.tools = _offered(agent.tools or [], change, mine=agent is able)
        for task in self.tasks.values():  # a task's own tools are what its agent is given
            task.tools = _offered(task.tools or [], change, mine=task.agent is able)

    def _put_flow(self, change: Change) -> None:
        flow, keys = Flow.from_orchestration(change.wanted.orchestration), change.orchestration
        if "max_steps" in keys and flow.max_steps:
            self.changed_agent.max_iter = flow.max_steps
        if "retries" in keys:
            for role, agent in self.agents.items():
                agent.max_retry_limit = flow.retries_of(role)
        if "state" in keys:
            before = Flow.from_orchestration(change.found.orchestration).state
            for name in (name for name in self.tasks if before.get(name) != flow.state.get(name)):
                self.tasks[name].context = [self.tasks[one] for one in flow.state.get(name, ())]
        if keys & {"nodes", "edges"}:
            self.crew.tasks = [self.tasks[name] for name in order_of(self.tasks, flow)]
        if "handoffs" in keys:
            left = {name for source, targets in flow.handoffs.items() for name in (source, *targets)}
            self.crew.agents = [agent for agent in self.crew.agents if agent.role in left]

    def _delegation(self) -> dict[str, JsonValue]:
        """Return who may delegate to whom; empty if several agents may, since a crew has only one list of agents."""
        roles = [agent.role for agent in self.crew.agents]
        if self.crew.process == Process.hierarchical:
            if any(task.agent for task in self.crew.tasks):
                return {}  # the manager is given the one agent of the task
            manager = self.crew.manager_agent
            role = manager.role if manager else manager_role(self.crew)
            return {"handoffs": {role: {name: name for name in roles}}}
        able = [agent.role for agent in self.crew.agents if agent.allow_delegation]
        others = [name for name in roles if name not in able]
        return {"handoffs": {able[0]: {name: name for name in others}}} if len(able) == 1 and others else {}


def manager_role(crew: Crew) -> str:
    """Return the role of the manager that a crew makes of a `manager_llm`."""
    return str(get_i18n(prompt_file=crew.prompt_file).retrieve("hierarchical_manager_agent", "role"))


def _by_role(agents: Sequence[Agent]) -> dict[str, Agent]:
    found: dict[str, Agent] = {}
    for agent in agents:
        if agent.role in found:
            raise AdapterError(f"two agents have the role {agent.role!r}; give each a role of its own")
        found[agent.role] = agent
    return found


def _check(name: str, task: Task, agents: dict[str, Agent]) -> None:
    if task.agent is not None and agents.get(task.agent.role) is not task.agent:
        raise AdapterError(
            f"the agent {task.agent.role!r} of the {name!r} task is not among the agents of the crew, and copies "
            "of the crew lose it; add it to `agents`"
        )
    if task.human_input:
        raise AdapterError(
            f"the {name!r} task has human_input=True: a trial would wait for somebody at the terminal. Build the "
            "crew without it for agentmut"
        )


def _offered(tools: Sequence[Any], change: Change, *, mine: bool) -> list[Any]:
    own = {told_name(tool.name): tool for tool in tools}
    offers = change.offers(list(own), decoys=mine, described=lambda name: spec_of(own[name]))
    return [offered(offer, own.get(offer.spec.own_name)) for offer in offers]
