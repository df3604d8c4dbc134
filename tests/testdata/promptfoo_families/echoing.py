"""An agent whose answer is what it is asked, so that tests say what is judged."""

import asyncio
from typing import Any


async def run(config: Any, said: str) -> str:
    """The same words, later where they are `slow`."""
    await asyncio.sleep(3 if said == "slow" else 0)
    return said
