"""Agents in the environments of AgentDojo (https://github.com/ethz-spylab/agentdojo)."""
