"""Something of the prompt is gone."""

from collections.abc import Iterator

from agentmut.config import AgentConfig
from agentmut.mutant import Candidate
from agentmut.operator import operator
from agentmut.operators.describe import quoted
from agentmut.operators.edits import prompt_edit, prompt_example
from agentmut.protocols import OperatorOptions
from agentmut.text import parse


@operator(
    "prompt.drop_instruction",
    why="A prompt is shortened or merged, and a rule gets lost on the way.",
    examples=[prompt_example("# Rules\n- Be polite.\n- Never guess.\n", "# Rules\n- Never guess.\n")],
)
def drop_instruction(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """One mutant per instruction, in the order of the prompt: it is gone, with its bullet and line break.

    What stands under it stays: the sub-items of a list item, the code block it announces.
    """
    for instruction in parse(config.prompt, config.tool_names).instructions:
        yield Candidate(
            edits=(prompt_edit(config.prompt, *instruction.removal, after=""),),
            description=f"drop {quoted(instruction.text)}",
            anchor=instruction.text,
        )
