"""An operator that removes the emphasis of a rule."""

from collections.abc import Iterator

from agentmut.language import parse, quoted
from agentmut.nouns import AgentConfig, Candidate, prompt_edit
from agentmut.operators.shared_edits import prompt_example
from agentmut.seams import OperatorOptions, operator


@operator(
    "prompt.remove_emphasis",
    why="Capitals and bold type are cleaned up for style, though they were put there for a reason.",
    examples=[
        prompt_example(
            "- **NEVER** name a date!!!\n- IMPORTANT: ask first.\n",
            "- Never name a date.\n- IMPORTANT: ask first.\n",
        )
    ],
)
def remove_emphasis(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per instruction with emphasis: bold, capitals, "IMPORTANT:" and "!!!" are all gone from it.

    It degrades: teams stress what a model did not follow otherwise. Names in capitals, protected text and
    instructions wholly in capitals are left alone.
    """
    document = parse(config.prompt, config.tool_names)
    for instruction in document.instructions:
        found = document.emphases(instruction)
        if found:
            yield Candidate(
                edits=tuple(prompt_edit(config.prompt, *emphasis) for emphasis in found),
                description=f"remove the emphasis of {quoted(instruction.text)}",
                anchor=instruction.text,
            )
