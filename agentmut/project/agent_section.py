"""The section `agent` of `agentmut.yaml`: where the agent is found, and what it is made of."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from agentmut.nouns import ModelConfig
from agentmut.project.graph_places import PLACE_OF_GRAPH, reference_to
from agentmut.project.section import Reference, Section


class ContextSection(Section):
    """What the agent reads besides its prompt."""

    documents: tuple[str, ...] = ()
    """Paths of text files given to the agent as documents."""
    workspace: tuple[str, ...] = ()
    """Patterns of files with instructions that the agent reads itself in the folder where it works, such as `AGENTS.md`
    and `skills/**/SKILL.md`. Each trial of the adapter `command` has a copy of the folder, with the changed files in
    it."""


class ConfigSection(Section):
    """The parts of the agent: everything that can be mutated."""

    request: str | None = None
    """A file with one recorded request of the agent (its JSON body, or `path` and `body`): prompt, tools and model are
    read from it where they are not written here. `agentmut doctor --save-request FILE` makes one."""
    prompt: str = ""
    """The system prompt, or the path of a text file that holds it. A comment `<!-- agentmut: ignore: reason -->`
    or `{# agentmut: ignore prompt.negate: reason #}`, on the line before an instruction or at the end of its line,
    ignores mutants there (all, or those of the operators or classes named). The agent gets the prompt without
    the comment."""
    tools: str | tuple[dict[str, JsonValue], ...] | None = None
    """A YAML or JSON file with a list of tools, `module:object`, or the list itself. Left out: the adapter reads
    them from the agent, if it can."""
    model: ModelConfig = Field(default_factory=ModelConfig)
    """The model and its parameters."""
    context: tuple[str, ...] | ContextSection = ()
    """Paths of text files given to the agent as documents; or `{workspace: [AGENTS.md]}`, patterns of files with
    instructions that a coding agent reads itself."""
    orchestration: dict[str, JsonValue] = Field(default_factory=dict)
    """Free settings that the agent's factory reads."""

    @property
    def files(self) -> ContextSection:
        """Return the context in its long form."""
        given = self.context
        return given if isinstance(given, ContextSection) else ContextSection(documents=given)


class AgentSection(Section):
    """Where the agent under test is found."""

    adapter: str | None = None
    """`python` for a callable, `langgraph` for a graph, `openai` or `anthropic` for a ready tool loop, `command` for
    a program, `http` for a service, or an installed adapter plugin. May be left out where a suite of another tool
    runs the agent itself."""
    factory: Reference | None = None
    """`module:function` that returns a fresh agent, and may take the config; or `module:object`, an agent."""
    graph: Annotated[str, Field(pattern=PLACE_OF_GRAPH)] | None = None
    """Another name of `factory` for the adapter `langgraph`; also as `langgraph.json` names graphs:
    `./my_package/agent.py:graph`."""
    run: Reference | None = None
    """`module:function` called as `run(config, input)` or `run(input)`, sync or async."""
    functions: Reference | None = None
    """`module:object`, the functions behind the tools, for adapters that bring the tool loop along."""
    api: Literal["chat_completions", "responses"] | None = None
    """The OpenAI API that the adapter `openai` uses; `chat_completions` when left out."""
    stream: bool = False
    """Ask for streamed replies in a ready tool loop."""
    command: str | tuple[str, ...] | None = None
    """A program and its arguments, without a shell. `{input}` is what the user says, `{input_file}` a file that holds
    it (else it is given on stdin); `{answer_file}` a file that the program writes its answer to (else stdout);
    `{config_file}` the config as JSON; `{model.name}` or `{orchestration.max_steps}` a part of it."""
    shell: bool = False
    """`command` is one line for the shell."""
    url: str | None = None
    """The address of an agent behind HTTP."""
    method: Literal["POST", "PUT", "GET"] = "POST"
    """The HTTP method of its requests."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Headers of its requests; `${NAME}` comes from the environment, `{openai_base_url}` and its kin from the trial."""
    body: JsonValue = None
    """The JSON that is sent, with `{input}` in it. Left out: `{"input": ...}`."""
    answer: str | None = None
    """JSON pointer to the answer in the output of the program or the service, such as `/reply/text`."""
    proxy_port: int | None = Field(default=None, ge=1, le=65535)
    """A fixed port for agentmut's proxy, for a service that is started beforehand."""
    intercept: bool | tuple[str, ...] = False
    """For a program that hard-codes `https://` addresses: `true` intercepts its requests to the known model services, a
    list those to further hosts too. Takes `agentmut[intercept]`."""
    route: Literal["rebuild", "wire"] | None = None
    """How mutants reach the agent: `rebuild` it from the changed config, or change its model requests on the `wire`.
    Left out: `wire` for programs, services, functions that take the input alone, and those that the adapters `openai`
    and `anthropic` wrap; `rebuild` for all others."""
    options: dict[str, JsonValue] = Field(default_factory=dict)
    """Settings of the framework's adapter; docs/frameworks.md lists the keys of each."""
    version: str | None = None
    """Your own version of the agent's code. Left out: a hash of the project's Python files; of a program or a service,
    of its source files in any language, and of the files that the command names."""
    safe_tools: Literal["all"] | tuple[str, ...] = ()
    """Tools that do no harm when they are really called, by name, or `all`. `agentmut doctor` warns of the others that
    a scenario has no stand-in for."""
    env: dict[str, str] = Field(default_factory=dict)
    """Environment variables of the agent. `${NAME}` is replaced from the environment; such values,
    and those of variables named like credentials, are masked in whatever is kept."""
    config: ConfigSection = Field(default_factory=ConfigSection)
    """The agent's parts."""

    @property
    def source(self) -> str | None:
        """Return the factory, or the graph in its place, as `module:object`."""
        return self.factory or (reference_to(self.graph) if self.graph else None)
