"""The support desk of an outdoor shop, as a LangGraph agent."""
