"""An operator that rephrases a clause and keeps its meaning, by rules that are sure of their pattern."""

from collections.abc import Iterator
from itertools import islice

from agentmut.language import paraphrases
from agentmut.nouns import AgentConfig, Candidate, Intent
from agentmut.operators.prompt.replaced_words import PLACES, english_instructions, reworded
from agentmut.operators.shared_edits import prompt_example
from agentmut.seams import OperatorOptions, operator


@operator(
    "prompt.paraphrase",
    why="A sentence is put another way that its author takes for the same.",
    intent=Intent.PRESERVE,
    examples=[
        prompt_example("If the parcel is late, offer a refund.", "Offer a refund if the parcel is late."),
        prompt_example("Always verify the customer.", "Make sure to always verify the customer."),
        prompt_example("Never promise a refund.", "You must never promise a refund."),
    ],
    english=True,
)
def paraphrase(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Put a clause in another form; at most two mutants per instruction, from the first rules that apply.

    A condition moves to the end or to the front; "Always do" becomes "Make sure to always do", "Never" "You must
    never", "must" "need to" and back; "Do not" is contracted or spelled out. Left alone: several commas or
    joined clauses, where moving one part would change what belongs to what; quotes and code.
    """
    for document, instruction in english_instructions(config):
        made = (
            reworded(document, instruction, instruction.start + start, instruction.start + end, replacement)
            for start, end, replacement in paraphrases(instruction.text)
        )
        yield from islice(filter(None, made), PLACES)
