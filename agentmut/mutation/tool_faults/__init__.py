"""The results of tool calls under a fault."""
