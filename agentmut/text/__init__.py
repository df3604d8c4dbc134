"""Language: one parsed prompt document that operators, relations, coverage and simulator all read."""

from agentmut.text.document import Instruction, PromptDocument, parse
from agentmut.text.emphasis import Emphasis
from agentmut.text.examples import FewShot
from agentmut.text.lexicon import Lexicon, load_lexicon
from agentmut.text.modality import Modality, modality
from agentmut.text.position import Position, position
from agentmut.text.sections import Section
from agentmut.text.spans import Span
from agentmut.text.synonyms import Replacement, reads_as_english, synonyms
from agentmut.text.words import Word, stem, stems, words

__all__ = [
    "Emphasis", "FewShot", "Instruction", "Lexicon", "Modality", "Position", "PromptDocument", "Replacement",
    "Section", "Span", "Word", "load_lexicon", "modality", "parse", "position", "reads_as_english", "stem",
    "stems", "synonyms", "words",
]  # fmt: skip
