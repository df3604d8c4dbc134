"""How a pytest in a process of its own is kept from what other tools bring along."""

OTHERS = [f"-pno:{plugin}" for plugin in ("asyncio", "deepeval", "langsmith_plugin")]
"""Some of these plugins take seconds to import, in each process."""
