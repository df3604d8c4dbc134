"""An operator that drops the output format from the prompt."""

import re
from collections.abc import Iterator

from agentmut.language import NUMBER, Instruction, PromptDocument, Span, balanced, inside, quoted
from agentmut.nouns import AgentConfig, Candidate, prompt_edit
from agentmut.operators.prompt.replaced_words import english_instructions
from agentmut.operators.shared_edits import prompt_example
from agentmut.seams import OperatorOptions, operator

_ANSWER = r"(?:answers?|repl(?:y|ies)|responses?|outputs?|results?|messages?|e-?mails?|summar(?:y|ies))"
_NUMBER = rf"(?:{NUMBER}|\d+|a\ single|a\ few|at\ most|no\ more\ than)"
_SHAPE = rf"""
    (?:in|as|into|with|using|use|valid|only|this|following|pure|raw|strict)\s+(?:\w+\s+){{0,3}}?
      (?:JSON|XML|YAML|CSV|Markdown|HTML|LaTeX|plain\ text|prose)\b
  | \b(?:bullet(?:ed)?[ -](?:points?|lists?)|bullets|numbered\ lists?|code\ blocks?|headings?|emojis?)\b
  | \b(?:as|in|with|use|using)\s+(?:a|an)\s+(?:\w+\s+)?(?:table|list|heading)\b
  | \b{_NUMBER}\s+(?:(?:to|or|-)\s+\w+\s+|\w+\s+)?(?:sentences?|paragraphs?|words|lines?|characters|bullets)\b
  | \b(?:this|the\ following)\s+(?:\w+\s+)?(?:format|template|schema|structure)\b
  | \b(?:format|template|schema|structure)\s+(?:below|above)\b
  | \b(?:keys?|fields?)\s+[\"'`]
"""
_DEMANDS = rf"""
  \W*(?:please\s+|always\s+|only\s+|never\s+|do\ not\s+|don['’]t\s+|you\s+(?:must|should|always)\s+)*
  (?:
    (?:answer|reply|respond|return|output|present|provide|produce|write|format|structure|use|keep|limit|follow
      |give|send|summari[sz]e|(?:your|the|each|every|all)\s+(?:final\s+)?{_ANSWER}\s+(?:must|should|is|are|has|have)
    )\b (?=.{{0,120}}?(?:{_SHAPE}))
  | (?:end|finish|close|start|begin|open|sign)\s+(?:(?:every|each|all|your|the)\s+)?(?:\w+\s+)?{_ANSWER}\s+with\b
  | (?:end|finish|close|start|begin|open|sign)\s+(?:off\s+)?with\s+[\"“'`]
  | (?:output|return|(?:reply|respond|answer)\s+with)\s+(?:only|just|nothing\ but|exactly)\b
  | (?:reply|respond|answer)\s+(?:only|just)\s+with\b
  | format\s+(?:your|the|each|every|all)\b
  | (?:wrap|enclose)\b.*(?:\btags?\b|<)
  )
"""
_FORMAT = re.compile(_DEMANDS, re.IGNORECASE | re.VERBOSE | re.DOTALL)
_BLANKS = re.compile(r"\s*")


@operator(
    "prompt.drop_output_format",
    why="The format moves into code or a schema of the provider, and one caller still relies on the prompt.",
    examples=[
        prompt_example("Label the ticket.\nAnswer in JSON with the key `label`.\n", "Label the ticket.\n")
    ],
    english=True,
)
def drop_output_format(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant per English instruction that asks for a form of answer, as JSON, bullets or a length.

    The code block or example that it announces with a colon is gone too.
    """
    for document, instruction in english_instructions(config):
        if _FORMAT.match(instruction.text):
            start, end = _with_what_it_announces(document, instruction)
            if balanced(config.prompt, Span(start, end)):
                yield Candidate(
                    edits=(prompt_edit(config.prompt, start, end, after=""),),
                    description=f"drop the output format {quoted(instruction.text)}",
                    anchor=instruction.text,
                )


def _with_what_it_announces(document: PromptDocument, instruction: Instruction) -> Span:
    """Return the instruction's cut, up to the end of the code that follows its colon."""
    start, end = instruction.removal
    if not instruction.text.rstrip("*_ ").endswith(":"):
        return instruction.removal
    blanks = _BLANKS.match(document.text, instruction.end)
    first = blanks.end() if blanks else instruction.end
    line = document.text.rfind("\n", 0, first) + 1
    shown = inside(document.protected, Span(first, first + 1))
    if not shown or line <= instruction.end or not line <= shown[0].start <= first:
        return instruction.removal
    whole = document.text[: shown[0].end].rstrip("\r\n")
    if document.text[start].isspace():  # the gap before it is gone already, and so the one behind it stays
        return Span(start, len(whole))
    last = document.text.find("\n", len(whole))
    return Span(start, max(end, len(document.text) if last < 0 else last + 1))
