"""Operators that damage the model's replies: cut, empty, calls without ids, as text, or with other arguments."""

from collections.abc import Iterator

from agentmut.mutation import takes_query
from agentmut.nouns import AgentConfig, Candidate, Edit, ReplyFault, ToolSpec
from agentmut.seams import Example, Operator, OperatorOptions, operator

_SEARCH = {"type": "object", "properties": {"query": {"type": "string"}}}
_WITH_TOOLS = AgentConfig(tools=(ToolSpec(name="search", parameters=_SEARCH),))


def _defined(name: str, kind: ReplyFault, effect: str, *, why: str, of: str = "run") -> type[Operator]:
    """Build an operator with one mutant. `of` says what an agent needs: a run, tools, or queries."""

    def find(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        able = {
            "run": config != AgentConfig(),
            "tools": bool(config.tools),
            "queries": any(map(takes_query, config.tools)),
        }[of]
        if able and config.reply is None:
            edit = Edit(pointer="/reply", before=None, after=kind.value)
            yield Candidate(edits=(edit,), description=effect, anchor="reply")

    find.__name__, find.__doc__ = name, f"Yield one mutant: {effect}."
    after = _WITH_TOOLS.model_copy(update={"reply": kind})
    return operator(
        f"model.{name}",
        why=why,
        examples=[Example(_WITH_TOOLS, after)],
        lack="the agent has no tool that takes a query" if of == "queries" else "the agent has no tools",
        on_demand=True,
    )(find)


cut_answer = _defined(
    "cut_answer",
    ReplyFault.ANSWER_CUT,
    "give the first half of each answer",
    why="A stream ends early, and the status says that it is complete.",
    of="run",
)
empty_answer = _defined(
    "empty_answer",
    ReplyFault.ANSWER_EMPTY,
    "give empty answers",
    why="A service refuses without a word, or thinks until its limit.",
    of="run",
)
cut_call = _defined(
    "cut_call",
    ReplyFault.CALL_CUT,
    "cut the arguments of calls off",
    why="A limit of tokens ends a reply in the middle of a call.",
    of="tools",
)
call_as_text = _defined(
    "call_as_text",
    ReplyFault.CALL_AS_TEXT,
    "give calls as text",
    why="A server's template does not match the model, and calls are not read as such.",
    of="tools",
)
lose_second_call = _defined(
    "lose_second_call",
    ReplyFault.SECOND_CALL_LOST,
    "give only the first of several calls",
    why="A guard against loops takes the second call for a repetition.",
    of="tools",
)
other_arguments = _defined(
    "other_arguments",
    ReplyFault.ARGUMENTS_OTHER,
    "give calls the arguments of another case",
    why="A run goes on after an approval, asks the model again, and carries out other arguments.",
    of="tools",
)
expand_query = _defined(
    "expand_query",
    ReplyFault.QUERY_EXPANDED,
    "add words of a general meaning to queries",
    why="A step before a search rewrites the query, and abbreviations of the house are read as common ones.",
    of="queries",
)
lose_call_ids = _defined(
    "lose_call_ids",
    ReplyFault.CALL_ID_LOST,
    "take the ids from calls",
    why="A gateway translates between dialects, and ids are lost.",
    of="tools",
)
wrong_finish = _defined(
    "wrong_finish",
    ReplyFault.WRONG_FINISH,
    "give calls as finished and answers as cut off",
    why="A gateway reports another reason why a reply ended.",
    of="run",
)
