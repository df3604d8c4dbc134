"""Language: one parsed prompt document that operators, relations, coverage and simulator all read."""

from agentmut.text.document import Instruction, PromptDocument, parse
from agentmut.text.modality import Modality, modality
from agentmut.text.position import Position, position
from agentmut.text.spans import Span
from agentmut.text.words import Word, stem, stems, words

__all__ = [
    "Instruction", "Modality", "Position", "PromptDocument", "Span", "Word", "modality", "parse",
    "position", "stem", "stems", "words",
]  # fmt: skip
