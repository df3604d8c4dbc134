"""LangGraph and LangChain."""
