from .adapter import McpAdapter as McpAdapter
