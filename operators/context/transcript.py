"""Operators on the agent's past: earlier turns and results are trimmed, replaced by placeholders or mixed up."""

from collections.abc import Iterator

from agentmut.nouns import AgentConfig, Candidate, Edit, History, Reach, ToolSpec, Transcript
from agentmut.seams import Example, Operator, OperatorOptions, operator

_WITH_TOOLS = AgentConfig(tools=(ToolSpec(name="search"),), history=History.KEPT)


def _defined(name: str, kind: Transcript, effect: str, *, why: str, of: str = "run") -> type[Operator]:
    """Build an operator with one mutant. `of` says what an agent needs: a run, tools, or turns."""

    def find(config: AgentConfig, options: OperatorOptions) -> Iterator[Candidate]:
        able = {
            "run": config != AgentConfig(),
            "tools": bool(config.tools),
            "turns": config.history is History.KEPT,
        }[of]
        if able and config.transcript is None:
            edit = Edit(pointer="/transcript", before=None, after=kind.value)
            yield Candidate(edits=(edit,), description=effect, anchor="transcript")

    find.__name__, find.__doc__ = name, f"Yield one mutant: {effect}."
    after = _WITH_TOOLS.model_copy(update={"transcript": kind})
    return operator(
        f"context.{name}",
        why=why,
        reach=Reach.CONVERSED if of == "turns" else Reach.SENT,
        examples=[Example(_WITH_TOOLS, after)],
        lack="the agent has no tools, or no scenario has several turns",
        on_demand=True,
    )(find)


lose_first_turn = _defined(
    "lose_first_turn",
    Transcript.FIRST_TURN_LOST,
    "take the user's first words from later requests",
    why="A limit of messages removes the oldest ones first, and the task with them.",
    of="tools",
)
lose_rules = _defined(
    "lose_rules",
    Transcript.RULES_LOST,
    "take the instructions from later requests",
    why="A summary takes the place of the conversation, and nothing puts the rules back.",
    of="tools",
)
omit_results = _defined(
    "omit_results",
    Transcript.RESULTS_OMITTED,
    "replace earlier results by placeholders",
    why="Old results are left out to save space.",
    of="tools",
)
swap_results = _defined(
    "swap_results",
    Transcript.RESULTS_SWAPPED,
    "exchange the results of calls that were made together",
    why="Results are passed on in the order in which calls end.",
    of="tools",
)
blank_arguments = _defined(
    "blank_arguments",
    Transcript.ARGUMENTS_BLANKED,
    "take the arguments from earlier calls",
    why="A conversation is stored without the arguments of its calls.",
    of="tools",
)
strip_reasoning = _defined(
    "strip_reasoning",
    Transcript.REASONING_STRIPPED,
    "take the thoughts from earlier replies",
    why="A filter removes thoughts, and with them what a service wants back.",
    of="tools",
)
repeat_turn = _defined(
    "repeat_turn",
    Transcript.TURN_TWICE,
    "give the user's last words twice",
    why="A client sends a request again that had arrived.",
    of="run",
)
reopen_work = _defined(
    "reopen_work",
    Transcript.WORK_REOPENED,
    "leave only the user's words of earlier turns",
    why="A summary keeps what was asked, and not that it was done.",
    of="turns",
)
lose_question = _defined(
    "lose_question",
    Transcript.QUESTION_LOST,
    "take the agent's own last words from before the user's answer",
    why="A run stops to ask for an approval, and stops before its question is stored.",
    of="turns",
)
summarise_turns = _defined(
    "summarise_turns",
    Transcript.SUMMARISED,
    "replace earlier turns by the beginnings of the user's words",
    why="A hand-off or a compaction condenses what was said into one message.",
    of="turns",
)
