"""What operators of several classes need to build their mutants and examples."""

from agentmut.language import reads_as_english, reads_as_foreign
from agentmut.nouns import AgentConfig
from agentmut.seams import Example


def prompt_example(before: str, after: str) -> Example:
    """Return an example of a config with nothing but a prompt."""
    return Example(AgentConfig(prompt=before), AgentConfig(prompt=after))


def line_break(text: str) -> str:
    """Return the line break that a text uses."""
    return "\r\n" if "\r\n" in text else "\n"


def takes_english(config: AgentConfig, text: str) -> bool:
    """Return whether an English remark fits behind a text of this agent: neither it nor the prompt is foreign."""
    foreign_prompt = bool(config.prompt.strip()) and not reads_as_english(config.prompt)
    return not (foreign_prompt or reads_as_foreign(text))
