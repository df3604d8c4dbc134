"""A graph as a LangGraph server serves it: its prompt and its model's address come with each run's config."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph
from openai import AsyncOpenAI

ROLES = {"human": "user", "ai": "assistant"}


async def answer(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
    """Ask the model once."""
    given = config["configurable"]
    said: Any = [{"role": ROLES[one.type], "content": one.content} for one in state["messages"]]
    client = AsyncOpenAI(base_url=given["openai_base_url"], api_key="none")
    prompt: Any = {"role": "system", "content": given["prompt"]}
    reply = await client.chat.completions.create(model="sim-large", messages=[prompt, *said])
    return {"messages": [("ai", reply.choices[0].message.content)]}


def graph() -> Any:
    """One node."""
    builder = StateGraph(MessagesState).add_node("answer", answer)
    return builder.add_edge(START, "answer").add_edge("answer", END).compile()
