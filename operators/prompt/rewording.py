"""The prompt says the same in other words."""

from collections.abc import Iterator
from itertools import chain, islice

from agentmut.language import load_wordnet, parse, quoted, synonyms, wordnet_synonyms
from agentmut.nouns import AgentConfig, Candidate, Intent, prompt_edit
from agentmut.operators.shared_edits import prompt_example
from agentmut.seams import OperatorOptions, operator


@operator(
    "prompt.synonym",
    why="Somebody polishes the wording of a prompt without meaning to change anything.",
    intent=Intent.PRESERVE,
    version=2,
    examples=[prompt_example("Politely decline legal questions.", "Courteously decline legal questions.")],
    english=True,
)
def synonym(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield at most one mutant per instruction: its first word with a synonym in the lexicon is replaced.

    With `wordnet` one more: its first word with a synonym in WordNet that the lexicon does not know. Case and
    inflection are kept. Words of tool names, quotes, code and instructions that are not English are left alone.
    """
    document = parse(config.prompt, config.tool_names)
    source = load_wordnet() if options.wordnet else None
    for instruction in document.instructions:
        found = [islice(synonyms(document, instruction, config.tool_names), 1)]
        if source:
            found.append(islice(wordnet_synonyms(document, instruction, config.tool_names, source), 1))
        for start, end, replacement in chain.from_iterable(found):
            yield Candidate(
                edits=(prompt_edit(config.prompt, start, end, replacement),),
                description=f"say {quoted(replacement)} for {quoted(config.prompt[start:end])}"
                f" in {quoted(instruction.text)}",
                anchor=instruction.text,
            )
