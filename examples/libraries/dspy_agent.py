"""An agent on DSPy. Its tools stand in its instructions, as text."""

import dspy

from examples.libraries.tools import PROMPT, look_up_order


async def run(text: str) -> str:
    """Answer by DSPy's own loop."""
    desk = dspy.ReAct(dspy.Signature("request -> answer", PROMPT), tools=[look_up_order], max_iters=5)
    with dspy.context(lm=dspy.LM("openai/sim-large", cache=False)):
        return str((await desk.acall(request=text)).answer)
