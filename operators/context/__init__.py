"""Operators on what the agent is given to know: documents and the conversation so far."""
