"""Agents of the OpenAI Agents SDK, as a user writes them."""

from dataclasses import replace

from agents import Agent, ModelSettings, RunConfig, Runner, function_tool

from agentmut.nouns.config import AgentConfig


@function_tool
def look_up_order(order_id: str) -> str:
    """Look up an order by its number."""
    return f"{order_id} was delivered on Monday."


@function_tool
async def issue_refund(order_id: str, amount: float) -> str:
    """Pay money back to the customer."""
    return f"{amount} euros for {order_id} are on their way."


def desk() -> Agent:
    """One agent with two tools."""
    return Agent(
        name="desk",
        instructions="You help customers.\n\n- Always look up the order before you answer.\n- Never promise a date.",
        tools=[look_up_order, issue_refund],
        model="sim-large",
        model_settings=ModelSettings(temperature=0.3),
    )


def configured(config: AgentConfig) -> Agent:
    """One that is built from the config that it is given, with whatever names tools have there."""
    own = {tool.name: tool for tool in (look_up_order, issue_refund)}
    known = [(spec, own.get(spec.own_name)) for spec in config.tools]
    tools = [
        replace(
            tool,
            name=spec.name,
            description=spec.description,
            params_json_schema=spec.parameters,
            strict_json_schema=False,
        )
        for spec, tool in known
        if tool
    ]
    return Agent(
        name="desk", instructions=config.system_text(), tools=list(tools or own.values()), model="sim-large"
    )


def team() -> Agent:
    """One that hands over to another."""
    billing = Agent(
        name="billing",
        handoff_description="Handles refunds.",
        instructions="You handle money.\n\n- Always look up the order first.\n- Refund at most 50 euros.",
        tools=[look_up_order, issue_refund],
        model="sim-large",
    )
    return Agent(
        name="triage",
        instructions="You decide who helps.\n\n- Hand refunds to billing.\n- Greet the customer.",
        handoffs=[billing],
        model="sim-large",
    )


async def direct(agent: Agent, text: str) -> str:
    """The agent by the SDK alone."""
    result = await Runner.run(agent, text, run_config=RunConfig(tracing_disabled=True))
    return str(result.final_output)
