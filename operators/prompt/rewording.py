"""The prompt says the same in other words."""

from collections.abc import Iterator

from agentmut.config import AgentConfig
from agentmut.mutant import Candidate, Intent
from agentmut.operator import operator
from agentmut.operators.describe import quoted
from agentmut.operators.edits import prompt_edit, prompt_example
from agentmut.protocols import OperatorOptions
from agentmut.text import parse, synonyms


@operator(
    "prompt.synonym",
    why="Somebody polishes the wording of a prompt without meaning to change anything.",
    intent=Intent.PRESERVE,
    examples=[prompt_example("Politely decline legal questions.", "Courteously decline legal questions.")],
)
def synonym(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """At most one mutant per instruction: its first word with a synonym in the lexicon is replaced.

    Case and inflection are kept. Words of tool names, quotes, code and instructions that are not English
    are left alone.
    """
    document = parse(config.prompt, config.tool_names)
    for instruction in document.instructions:
        for start, end, said in synonyms(document, instruction, config.tool_names):
            yield Candidate(
                edits=(prompt_edit(config.prompt, start, end, said),),
                description=f"say {quoted(said)} for {quoted(config.prompt[start:end])}",
                anchor=instruction.text,
            )
            break
