"""What calls of a tool meet: failures, and results that are lost, damaged, outdated or late.

The model sees the same description of its tools. The tool, or its double, does its work, except under
`result_error`, `result_timeout` and `result_permission_denied`. Only tools whose calls the agent's adapter
can intercept have such mutants.
"""

import re
from collections.abc import Iterator

from agentmut._base import shipped
from agentmut.language import AMBIGUOUS_VERBS, word_set
from agentmut.nouns import LATE, AgentConfig, Candidate, Edit, FaultKind, Reach, ToolFault
from agentmut.operators.tool.example_tools import LOOK_UP, tools_example
from agentmut.seams import Example, Operator, OperatorOptions, operator

_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])")
_WRITING = frozenset(shipped("agentmut.operators.tool", "other_words")["writing"].split())
_READING = word_set("get find search list look lookup query read fetch describe show check view retrieve")
EXAMPLE_SECONDS = 3.0


def _fault(kind: FaultKind, slow_seconds: float) -> ToolFault:
    return ToolFault(kind=kind, seconds=slow_seconds if kind in LATE else 0.0)


def _example(kind: FaultKind) -> Example:
    broken = LOOK_UP.model_copy(update={"fault": _fault(kind, EXAMPLE_SECONDS)})
    return tools_example((LOOK_UP,), (broken,))


def _one_per_tool(
    config: AgentConfig, fault: ToolFault, description: str, reading: bool
) -> Iterator[Candidate]:
    after = fault.model_dump(mode="json", exclude_defaults=True)
    for index, tool in enumerate(config.tools):
        if reading and _writes(tool.own_name):
            continue
        before = tool.fault.model_dump(mode="json") if tool.fault else None
        yield Candidate(
            edits=(Edit(pointer=f"/tools/{index}/fault", before=before, after=after),),
            description=description.format(tool=tool.name, seconds=fault.seconds),
            anchor=tool.name,
            subject=tool.own_name,
        )


def _writes(name: str) -> bool:
    """Return whether a tool changes something, by the first and the last word of its name.

    A word that may name a thing, such as order, says so only before others.

    >>> [_writes(name) for name in ("get_order", "issueRefund", "urlaub_beantragen", "order", "order_pizza")]
    [False, True, True, False, True]
    """
    words = [word.casefold() for word in _WORD.findall(name)]
    if not words or words[0] in _READING:
        return False
    return (len(words) > 1 and words[0] in _WRITING) or words[-1] in _WRITING - AMBIGUOUS_VERBS


def _result_operator(
    kind: FaultKind,
    effect: str,
    description: str,
    *,
    why: str,
    reach: Reach = Reach.CALLED,
    on_demand: bool = False,
    reading: bool = False,
) -> type[Operator]:
    """Build the operator `tool.result_KIND`: one mutant per tool, in the order of the tools.

    `effect` says what happens to every call; `description` is that of a mutant, with {tool} and {seconds}.
    `reading`: tools that change something, by the verb of their name, have none; nobody caches or pages what they say.
    """

    def find(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        yield from _one_per_tool(config, _fault(kind, options.slow_seconds), description, reading)

    whose = "tool that changes nothing" if reading else "tool"
    find.__name__, find.__doc__ = f"result_{kind.value}", f"One mutant per {whose}: {effect}"
    return operator(
        f"tool.{find.__name__}", why=why, reach=reach, examples=[_example(kind)], on_demand=on_demand
    )(find)


result_error = _result_operator(
    FaultKind.ERROR,
    "every call raises an error of the service. Nothing is done.",
    "{tool} raises an error",
    why="The service behind a tool is down, or its client fails.",
)
result_timeout = _result_operator(
    FaultKind.TIMEOUT,
    "every call raises a timeout, at once so as not to cost time. Nothing is done.",
    "{tool} times out",
    why="The service behind a tool hangs, and the client gives up.",
)
result_empty = _result_operator(
    FaultKind.EMPTY,
    "every result is empty and keeps its type.",
    "{tool} returns an empty result",
    why="An index is being rebuilt, a filter is too narrow, a query has a typo.",
)
result_truncated = _result_operator(
    FaultKind.TRUNCATED,
    "every result keeps only the first half of its items, fields or characters.",
    "{tool} returns the first half of its result",
    why="Pages and size limits cut results, and nobody asks for the rest.",
    reading=True,
)
result_stale = _result_operator(
    FaultKind.STALE,
    "the second and later calls of a run return the result of the first.",
    "{tool} returns its first result again and again",
    why="A cache answers with the result of an earlier call.",
    reach=Reach.REPEATED,
    reading=True,
)
result_wrong_entity = _result_operator(
    FaultKind.WRONG_ENTITY,
    "numbers, identifiers, addresses and days belong to another entity and keep their form.",
    "{tool} returns the data of another entity",
    why="A wrong key in a join or a cache brings another customer's data.",
    reading=True,
)
result_permission_denied = _result_operator(
    FaultKind.PERMISSION_DENIED,
    "every call answers that it is not permitted. Nothing is done.",
    "{tool} answers that permission is denied",
    why="A token expires, or a role loses a right.",
)
result_malformed = _result_operator(
    FaultKind.MALFORMED,
    "every result is text, JSON that breaks off in the middle.",
    "{tool} returns malformed JSON",
    why="A response is cut on its way, or a service answers with half a document.",
)
result_slow = _result_operator(
    FaultKind.SLOW,
    "every result is right, but `slow_seconds` late. Suites notice with `max_seconds`, agents with timeouts.",
    "{tool} returns its result {seconds:g} s late",
    why="A service is under load, or moves to another region.",
)
result_renamed_field = _result_operator(
    FaultKind.RENAMED_FIELD,
    "the first field of each record of a result has another name.",
    "{tool} calls a field of its result otherwise",
    why="A new version of an interface calls a field otherwise, and no release note says so.",
    on_demand=True,
)
result_nested = _result_operator(
    FaultKind.NESTED,
    "every result stands one level deeper, under `data`.",
    "{tool} nests its result",
    why="A service wraps its answers in an envelope.",
    on_demand=True,
)
result_paged = _result_operator(
    FaultKind.PAGED,
    "a list keeps one item, and says where the next page begins.",
    "{tool} returns the first page of its result",
    why="A service begins to page its lists, and nobody asks for the rest.",
    on_demand=True,
)
result_null_value = _result_operator(
    FaultKind.NULL_VALUE,
    "what is empty is null, and so is the last value of each record.",
    "{tool} returns null for a value",
    why="A field becomes optional, or an empty list becomes null.",
    on_demand=True,
)
result_cut_with_mark = _result_operator(
    FaultKind.CUT_WITH_MARK,
    "every result is cut in half, with a mark that does not say that something is missing.",
    "{tool} returns half of its result with an unclear mark",
    why="A limit of length cuts results, and the mark does not say that they are incomplete.",
    on_demand=True,
)
result_omitted = _result_operator(
    FaultKind.OMITTED,
    "every result is a placeholder.",
    "{tool} returns a placeholder for its result",
    why="A limit of the context leaves results out, and the agent reads the placeholder as a failure.",
    on_demand=True,
)
result_with_order = _result_operator(
    FaultKind.WITH_ORDER,
    "every result has an order to the model in it.",
    "{tool} returns an order to the model",
    why="Results carry text of strangers: pages, mails, tickets.",
    on_demand=True,
)
result_reversed = _result_operator(
    FaultKind.REVERSED,
    "the lists in every result have their last item first.",
    "{tool} returns its items in reverse",
    why="A query loses its order, or a cache returns what was added last first.",
    on_demand=True,
)
result_false_success = _result_operator(
    FaultKind.FALSE_SUCCESS,
    "every call answers that all is well. Nothing is done.",
    "{tool} answers ok and does nothing",
    why="An error is caught, and the status says success over it.",
    on_demand=True,
)
result_unflagged_error = _result_operator(
    FaultKind.UNFLAGGED_ERROR,
    "every call answers with the words of an error, as an ordinary result. Nothing is done.",
    "{tool} returns an error as if it were a result",
    why="The flag of an error is lost on its way to the model.",
    on_demand=True,
)
result_generic_error = _result_operator(
    FaultKind.GENERIC_ERROR,
    "every call raises an error without a cause. Nothing is done.",
    "{tool} raises an error that does not say why",
    why="Errors are replaced by one sentence, for safety or by a framework.",
    on_demand=True,
)
result_hangs = _result_operator(
    FaultKind.HANGS,
    "every call raises a timeout, `slow_seconds` late. Nothing is done.",
    "{tool} times out after {seconds:g} s",
    why="A client tries again behind the agent's back until the tool's own limit ends it.",
    on_demand=True,
)
