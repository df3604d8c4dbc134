"""Crews of CrewAI with what is rare; their models follow a script."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from crewai import LLM, Agent, BaseLLM, Crew, Process, Task
from crewai.tools import tool
from pydantic import BaseModel

from tests.frameworks import crewai_agents

Messages = list[dict[str, Any]]


class Script(BaseLLM):
    """A model that follows the script of its name."""

    def call(self, messages: Any, tools: Any = None, **rest: Any) -> Any:
        return SCRIPTS[self.model](messages, tools)

    def supports_function_calling(self) -> bool:
        return True


def echo(messages: Messages, tools: Any) -> str:
    return "\n".join(str(message["content"]) for message in messages)


def asks_twice(messages: Messages, tools: Any) -> Any:
    """Calls its tool twice with the same arguments, and says what it was told."""
    told = [message["content"] for message in messages if message["role"] == "tool"]
    return _call("count_up", {}) if len(told) < 2 else " ".join(told)


def delegates(messages: Messages, tools: Any) -> Any:
    told = [message["content"] for message in messages if message["role"] == "tool"]
    arguments = {"task": "Say hello.", "context": "none", "coworker": "Clerk"}
    return f"Told: {told[-1]}" if told else _call("delegate_work_to_coworker", arguments)


def offers(messages: Messages, tools: Any) -> str:
    return json.dumps(tools)


def says(text: str) -> Callable[[Messages, Any], str]:
    return lambda messages, tools: text


def delegates_to_nobody(messages: Messages, tools: Any) -> Any:
    """Delegates to somebody whom there is not, then to somebody who fails, then without a task."""
    told = [message["content"] for message in messages if message["role"] == "tool"]
    tries: list[dict[str, Any]] = [
        {"coworker": "Baker"},
        {"coworker": "Broken"},
        {"coworker": "Clerk", "task": None},
    ]
    if len(told) == len(tries):
        return "Sorry."
    return _call("delegate_work_to_coworker", {"task": "Say hello.", "context": "none", **tries[len(told)]})


def breaks(messages: Messages, tools: Any) -> Any:
    raise RuntimeError("out of order")


SCRIPTS: Mapping[str, Callable[[Messages, Any], Any]] = {
    "echo": echo,
    "asks-twice": asks_twice,
    "delegates": delegates,
    "delegates-to-nobody": delegates_to_nobody,
    "breaks": breaks,
    "offers": offers,
    "clerk": says("Hello from the clerk."),
    "writer": says("Hello from the writer."),
    "report": says('{"status": "delivered"}'),
}


def _call(name: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"id": "call_1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    ]


def agent(role: str, script: str, **settings: Any) -> Agent:
    return Agent(
        role=role, goal="Help.", backstory="You work in a shop.", llm=Script(model=script), **settings
    )


def crew_of(worker: Agent, description: str = "Answer: {input}", **settings: Any) -> Crew:
    task = Task(name="reply", description=description, expected_output="An answer.", agent=worker)
    return Crew(**{"agents": [worker], "tasks": [task], **settings})


def echoing() -> Crew:
    return crew_of(agent("Clerk", "echo"))


def without_shop() -> Crew:
    """A placeholder that nothing is put into, and braces that are none."""
    return crew_of(agent("Clerk", "echo"), 'Answer for {shop}, like {"answer": 1}: {input}')


def counting() -> Crew:
    """With a cache, and a tool that may be used twice."""
    numbers = iter(range(1, 9))

    @tool("count_up")
    async def count_up() -> str:
        """Count."""
        return f"number {next(numbers)}"

    count_up.max_usage_count = 2
    return crew_of(agent("Clerk", "asks-twice", tools=[count_up]), cache=True)


def reporting_failure() -> Crew:
    """Its tool says that it has failed in CrewAI's own way."""
    from crewai.tools.tool_failure import ToolFailure

    @tool("count_up")
    def count_up() -> Any:
        """Count."""
        return ToolFailure(message="out of numbers")

    return crew_of(agent("Clerk", "asks-twice", tools=[count_up]))


COUNTING = counting()


LATER: list[Any] = []
"""Tools that a crew has once a test puts them there."""


def growing() -> Crew:
    """An agent that may delegate, and has one tool at first."""
    tools = [crewai_agents.look_up_order, *LATER]
    lead = agent("Lead", "offers", allow_delegation=True, tools=tools)
    return crew_of(lead, agents=[lead, agent("Clerk", "clerk")])


def offering() -> Crew:
    @tool("Look up order")
    def look_up_order(order_id: str, fast: bool = False) -> str:
        """Look up an order."""
        return order_id

    return crew_of(agent("Clerk", "offers", tools=[look_up_order]))


def streaming() -> Crew:
    return crew_of(agent("Clerk", "clerk"), stream=True)


def reporting() -> Crew:
    class Report(BaseModel):
        status: str

    worker = agent("Clerk", "report")
    task = Task(description="About {input}", expected_output="JSON", agent=worker, output_json=Report)
    return Crew(agents=[worker], tasks=[task])


def managed() -> Crew:
    manager = agent("Manager", "delegates", allow_delegation=True)
    return Crew(
        agents=[agent("Clerk", "clerk"), agent("Writer", "writer")],
        tasks=[Task(name="answer", description="Have answered: {input}", expected_output="An answer.")],
        process=Process.hierarchical,
        manager_agent=manager,
    )


def managed_by_a_model() -> Crew:
    """CrewAI makes the manager."""
    crew = managed()
    return Crew(
        agents=crew.agents, tasks=crew.tasks, process=crew.process, manager_llm=Script(model="delegates")
    )


def delegating() -> Crew:
    lead, clerk = agent("Lead", "delegates", allow_delegation=True), agent("Clerk", "clerk")
    return crew_of(lead, agents=[lead, clerk, agent("Writer", "writer")])


def delegating_in_vain() -> Crew:
    lead = agent("Lead", "delegates-to-nobody", allow_delegation=True)
    return crew_of(lead, agents=[lead, agent("Clerk", "clerk"), agent("Broken", "breaks", max_retry_limit=0)])


def online() -> Crew:
    """One with a tool that may be used twice, whose model is a service."""
    desk = crewai_agents.clerk(crewai_agents.model())
    desk.tools = [tool for tool in desk.tools or [] if tool.name == "Look up order"]
    desk.tools[0].max_usage_count = 2
    return crew_of(desk)


def line() -> Crew:
    """Three tasks in a row."""
    worker = agent("Clerk", "echo")
    names = ("first", "second", "third")
    tasks = [
        Task(name=name, description=f"{name} of {{input}}", expected_output="Text.", agent=worker)
        for name in names
    ]
    return Crew(agents=[worker], tasks=tasks)


def elaborate() -> Crew:
    """What copies lose: models besides those of agents, and which of tasks with the same texts is passed on."""
    worker = agent("Clerk", "echo", function_calling_llm=Script(model="clerk"))
    same, twin = (Task(description="Of {input}", expected_output="Text.", agent=worker) for _ in range(2))
    last = Task(description="Of {input}", expected_output="Text.", agent=worker, context=[same])
    last.output_file = "said.txt"
    return Crew(
        agents=[worker],
        tasks=[same, twin, last],
        planning_llm=Script(model="writer"),
        output_log_file="log.txt",
    )


def at_once() -> Crew:
    crew = line()
    crew.tasks[0].async_execution = crew.tasks[1].async_execution = True
    crew.tasks[2].context = crew.tasks[:1]
    return crew


def without_placeholder() -> Crew:
    return crew_of(agent("Clerk", "clerk"), "Say hello.")


def asking_a_person() -> Crew:
    crew = echoing()
    crew.tasks[0].human_input = True
    return crew


def stranger() -> Crew:
    return crew_of(agent("Clerk", "clerk"), agents=[agent("Writer", "writer")])


def twins() -> Crew:
    return crew_of(agent("Clerk", "clerk"), agents=[agent("Clerk", "clerk"), agent("Clerk", "writer")])


class Unique(Crew):
    """One of which there is only one."""

    def copy(self) -> Crew:
        raise TypeError("there is only one")


def uncopyable() -> Crew:
    crew = echoing()
    return Unique(agents=crew.agents, tasks=crew.tasks)


def limited() -> Crew:
    """Its model is limited by the newer name of the setting."""
    crew = echoing()
    crew.agents[0].llm = LLM(model="gpt-5.2", api_key="none", max_completion_tokens=800)
    return crew


def no_crew() -> Agent:
    return agent("Clerk", "clerk")


def broken() -> Crew:
    raise RuntimeError("no database")
