"""An agent on DSPy. Its tools stand in its instructions, as text."""

import dspy

from examples.libraries.tools import PROMPT, look_up_order


class Desk(dspy.Signature):
    __doc__ = PROMPT
    request: str = dspy.InputField()
    answer: str = dspy.OutputField()


async def run(text: str) -> str:
    """Answer by DSPy's own loop."""
    with dspy.context(lm=dspy.LM("openai/sim-large", cache=False)):
        return str((await dspy.ReAct(Desk, tools=[look_up_order], max_iters=5).acall(request=text)).answer)
