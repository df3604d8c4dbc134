"""The agent as data: (prompt, tools, model, context, orchestration), frozen and content-addressed."""

from enum import StrEnum
from functools import cached_property

from pydantic import Field, JsonValue

from agentmut._base import Frozen, digest_of
from agentmut.nouns.tools import ToolSpec


class ModelConfig(Frozen):
    """The model and its sampling settings. An unset field leaves the choice to the agent, else to the service."""

    provider: str | None = None
    name: str = ""
    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, ge=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    seed: int | None = None
    stop: tuple[str, ...] = ()
    """Sequences at which the answer ends."""
    reasoning_effort: str | None = None
    """How long the model thinks: high, medium, low, minimal or none, as far as it has these."""
    tool_choice: JsonValue = None
    """As it is sent: auto, none, required, or {type: function, function: {name: ...}}."""
    response_format: JsonValue = None
    """As it is sent: {type: json_object}, or {type: json_schema, json_schema: {...}}."""


SAMPLING = tuple(name for name in ModelConfig.model_fields if name not in ("provider", "name"))
"""The settings of a model, which requests and their footprints have under the same names."""


def is_set(value: object) -> bool:
    """Return whether a setting has a value: null and empty values do not count."""
    return value not in (None, "", (), [])


class History(StrEnum):
    """The agent's view of the earlier turns of a conversation."""

    KEPT = "kept"
    DROPPED = "dropped"
    """Only the last turn."""
    SWAPPED = "swapped"
    """User and assistant have changed roles in the earlier turns."""


class Transcript(StrEnum):
    """A false record of the agent's own run so far, in its model requests."""

    FIRST_TURN_LOST = "first_turn_lost"
    """From the second request on, a note stands in the place of what the user said first."""
    RULES_LOST = "rules_lost"
    """From the second request on, the instructions are gone."""
    RESULTS_OMITTED = "results_omitted"
    """Placeholders stand in the place of results before the latest ones."""
    RESULTS_SWAPPED = "results_swapped"
    """Results of calls that were made together have changed places."""
    ARGUMENTS_BLANKED = "arguments_blanked"
    """Earlier calls have no arguments."""
    REASONING_STRIPPED = "reasoning_stripped"
    """Earlier thoughts, and the fields by which a service knows them, are gone."""
    TURN_TWICE = "turn_twice"
    """What the user said last stands there twice."""
    WORK_REOPENED = "work_reopened"
    """The earlier turns keep what the user said and nothing else, as if nothing had been done."""
    SUMMARISED = "summarised"
    """The beginnings of what the user said stand in the place of the earlier turns."""
    QUESTION_LOST = "question_lost"
    """What the agent said just before the user's last words, such as a request for approval, is gone."""


class ReplyFault(StrEnum):
    """A fault in the replies that the agent gets, whatever the model wrote."""

    ANSWER_CUT = "answer_cut"
    """The second half of the answer is gone."""
    ANSWER_EMPTY = "answer_empty"
    """The answer is empty."""
    CALL_CUT = "call_cut"
    """The arguments of the last call break off."""
    CALL_AS_TEXT = "call_as_text"
    """Calls are text of the answer."""
    SECOND_CALL_LOST = "second_call_lost"
    """The model's reply keeps the first of its calls only."""
    CALL_ID_LOST = "call_id_lost"
    """Calls have no ids."""
    WRONG_FINISH = "wrong_finish"
    """Calls are said to be a finished answer, and answers to be cut off."""
    ARGUMENTS_OTHER = "arguments_other"
    """Numbers, identifiers, addresses and days in the arguments of calls are another's."""
    QUERY_EXPANDED = "query_expanded"
    """Queries have words of a general meaning behind them."""


class Document(Frozen):
    """A piece of context the agent is given: a policy page, a retrieved passage."""

    name: str
    text: str

    @property
    def wrapped(self) -> str:
        """Return the text between tags that name the document."""
        return f'<document name="{self.name}">\n{self.text}\n</document>'


class AgentConfig(Frozen):
    """Everything a mutation can change about an agent."""

    prompt: str = ""
    tools: tuple[ToolSpec, ...] = ()
    model: ModelConfig = Field(default_factory=ModelConfig)
    context: tuple[Document, ...] = ()
    orchestration: dict[str, JsonValue] = Field(default_factory=dict)
    """Limits and the shape of the flow; `agentmut.nouns.flow` has the vocabulary."""
    history: History | None = None
    """None where no scenario has more than one turn."""
    transcript: Transcript | None = None
    """None where requests have what happened. No project sets it; mutants do."""
    reply: ReplyFault | None = None
    """None where replies are as the model wrote them. No project sets it; mutants do."""
    workspace: tuple[str, ...] = ()
    """Names of the documents that are files of the folder in which the agent works. The agent reads them itself."""

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of the content, equal across processes and platforms.

        Fields at their default are left out, so that a later version of agentmut that adds a field
        keeps the digests of today's configs.
        """
        return digest_of(self.model_dump(mode="json", exclude_defaults=True))

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Return the names of the tools, in the order of the offer."""
        return tuple(tool.name for tool in self.tools)

    def system_text(self) -> str:
        """Return the prompt followed by the context documents, for agents that put both in the system message."""
        documents = (document.wrapped for document in self.context)
        return "\n\n".join(part for part in (self.prompt, *documents) if part)
