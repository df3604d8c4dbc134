"""A graph as a LangGraph server serves it: its prompt and its model's address come with each run's config."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt
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


def _asking(name: str) -> Any:
    return lambda state: {"messages": [("ai", f"{name}: {interrupt({'what': name})}")]}


def asking() -> Any:
    """Two nodes that ask at once."""
    builder = StateGraph(MessagesState)
    for name in ("colour", "size"):
        builder.add_node(name, _asking(name)).add_edge(START, name)
    return builder.compile()


def stopping() -> Any:
    """A breakpoint before the only node."""
    builder = StateGraph(MessagesState).add_node("answer", answer)
    return builder.add_edge(START, "answer").compile(interrupt_before=["answer"])
