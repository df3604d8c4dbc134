"""Operators that add a well-meant text to the prompt, with more effect than intended."""

from collections.abc import Iterable, Iterator

from agentmut._base import shipped
from agentmut.language import parse, quoted, reads_as_english
from agentmut.nouns import About, AgentConfig, Candidate, prompt_edit
from agentmut.operators.prompt.paragraph_places import end_of
from agentmut.operators.shared_edits import line_break, prompt_example
from agentmut.operators.tool.example_tools import LOOK_UP
from agentmut.seams import Example, OperatorOptions, operator

_SHIPPED = shipped("agentmut.operators.prompt", "added_texts")
_NORMS, _GOALS = tuple(_SHIPPED["norms"]), tuple(_SHIPPED["goals"])
_CONTROL_LINES = tuple(_SHIPPED["control_lines"])
_EXAMPLE, _FOREIGN_EXAMPLE = _SHIPPED["example"], _SHIPPED["foreign_example"]
_SECTIONS = tuple((one["title"], tuple(one["lines"])) for one in _SHIPPED["sections"])
_NO_ENGLISH = "the prompt is not English"


def _added(config: AgentConfig, texts: Iterable[tuple[str, str]]) -> Iterator[Candidate]:
    """Yield each text as a paragraph at the end; texts come with what the description calls them."""
    prompt = config.prompt
    if not prompt.strip():
        return
    at = end_of(parse(prompt, config.tool_names))
    for addition, text in texts:
        paragraph = line_break(prompt) * 2 + text.replace("\n", line_break(prompt))
        yield Candidate(
            edits=(prompt_edit(prompt, at, at, paragraph),),
            description=f"add {addition} at the end",
            anchor=text,
            about=(About(pointer="/prompt", span=(at, at)),),
        )


def _in_english(config: AgentConfig, texts: Iterable[tuple[str, str]]) -> Iterator[Candidate]:
    if reads_as_english(config.prompt):
        yield from _added(config, texts)


@operator(
    "prompt.add_norm",
    why="A rule is added against one mistake, and it is worded for all cases.",
    examples=[prompt_example("Be polite.\n", f"Be polite.\n\n{_NORMS[0]}\n")],
    lack=_NO_ENGLISH,
    on_demand=True,
    english=True,
)
def add_norm(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield three mutants of an English prompt: a rule that is too general, as the last paragraph."""
    yield from _in_english(config, ((quoted(norm), norm) for norm in _NORMS))


@operator(
    "prompt.add_goal",
    why="A second goal is added, such as speed or cost, and it competes with the rules.",
    examples=[prompt_example("Be polite.\n", f"Be polite.\n\n{_GOALS[0]}\n")],
    lack=_NO_ENGLISH,
    on_demand=True,
    english=True,
)
def add_goal(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield three mutants of an English prompt: a goal that competes with the rules, as the last paragraph."""
    yield from _in_english(config, ((quoted(goal), goal) for goal in _GOALS))


def _section(title: str, lines: Iterable[str]) -> str:
    return "\n".join([f"## {title}", "", *(f"- {line}" for line in lines)])


@operator(
    "prompt.add_section",
    why="Rules of another task are added to a prompt that is shared, and draw attention.",
    examples=[prompt_example("Be polite.\n", f"Be polite.\n\n{_section(*_SECTIONS[0])}\n")],
    lack=_NO_ENGLISH,
    on_demand=True,
    english=True,
)
def add_section(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant of an English prompt: a section with rules for a task that the agent does not have."""
    sections = ((f"the section {quoted(title)}", _section(title, lines)) for title, lines in _SECTIONS)
    yield from _in_english(config, sections)


@operator(
    "prompt.add_control_line",
    why="A template of the model's server puts a line of its own before every prompt.",
    examples=[prompt_example("Be polite.\n", f"{_CONTROL_LINES[0]}\n\nBe polite.\n")],
    on_demand=True,
)
def add_control_line(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant: a line that sets something for the model stands before the prompt."""
    for line in _CONTROL_LINES if config.prompt.strip() else ():
        edit = prompt_edit(config.prompt, 0, 0, line + line_break(config.prompt) * 2)
        about = (About(pointer="/prompt", span=(0, 0)),)
        yield Candidate(
            edits=(edit,), description=f"add {quoted(line)} before the prompt", anchor=line, about=about
        )


@operator(
    "prompt.add_example",
    why="An example with real names is added, and nothing says that it shows the form only.",
    examples=[prompt_example("Be polite.\n", f"Be polite.\n\n{_EXAMPLE}\n")],
    lack=_NO_ENGLISH,
    on_demand=True,
    english=True,
)
def add_example(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield two mutants of an English prompt: an example with names and numbers, and one in another language."""
    examples = (("an example with names and numbers", _EXAMPLE), ("an example in Chinese", _FOREIGN_EXAMPLE))
    yield from _in_english(config, examples)


@operator(
    "prompt.forbid_tool",
    why="A summary or a second author writes down a limit that nobody set.",
    examples=[
        Example(
            AgentConfig(prompt="Be polite.\n", tools=(LOOK_UP,)),
            AgentConfig(prompt="Be polite.\n\nDo not call look_up_order.\n", tools=(LOOK_UP,)),
        )
    ],
    lack=_NO_ENGLISH,
    on_demand=True,
    english=True,
)
def forbid_tool(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
    """Yield one mutant for each tool of an agent with an English prompt: the prompt forbids the tool."""
    rules = [f"Do not call {tool.name}." for tool in config.tools]
    yield from _in_english(config, ((quoted(rule), rule) for rule in rules))
