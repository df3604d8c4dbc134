"""The texts that operators on words put in the place of a part of a prompt."""

from importlib.metadata import entry_points

from agentmut.mutation.generation import generate
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.tools import ToolSpec
from agentmut.seams.protocols.operator import Operator, OperatorOptions

NAMES = (
    "weaken_modality", "negate", "flip_comparator", "change_number", "swap_order_words", "change_scope",
    "paraphrase",
)  # fmt: skip


OPERATORS: dict[str, Operator] = {
    name: entry_points(group="agentmut.operators", name=f"prompt.{name}")[f"prompt.{name}"].load()()
    for name in NAMES
}


def said(name: str, prompt: str, *tools: str) -> list[str]:
    config = AgentConfig(prompt=prompt, tools=tuple(ToolSpec(name=tool) for tool in tools))
    found = generate(config, [OPERATORS[name]], OperatorOptions()).mutants
    return [mutant.apply(config).prompt for mutant in found]
