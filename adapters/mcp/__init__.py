"""MCP servers under test."""
