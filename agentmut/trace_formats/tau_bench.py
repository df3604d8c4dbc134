"""tau-bench: a list of `{task_id, trial, reward, info, traj}`, where `traj` has the messages of Chat Completions.

The format is that of github.com/sierra-research/tau-bench, `run.py`; ids of calls repeat within a run.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from agentmut.nouns import AgentConfig, BrokenRecord, ForeignTrial
from agentmut.seams import TraceFile
from agentmut.trace_formats.benchmark_fields import read_each, success
from agentmut.trace_formats.conversation import chat_message, conversation_trace, prompt_of, turns_of
from agentmut.trace_formats.records import Record, records

_KEYS = (b'"task_id"', b'"reward"', b'"traj"')


class TauBench:
    """A trial is a record; a scenario is a task, as `task_0`."""

    name: ClassVar[str] = "tau_bench"

    def recognises(self, head: bytes) -> bool:
        """Return whether the first record has a task, a reward and a trajectory."""
        return all(key in head for key in _KEYS)

    def read(self, files: Sequence[TraceFile]) -> Iterator[ForeignTrial | BrokenRecord]:
        """Yield the trials in the order in which the files have them."""
        for file in files:
            for record in records(file):
                yield from read_each(record, _trial)


def _trial(record: Record) -> ForeignTrial:
    run: Mapping[str, Any] = record.value
    said = [chat_message(message) for message in run["traj"]]
    return ForeignTrial(
        scenario=f"task_{run['task_id']}",
        turns=turns_of(said),
        trace=conversation_trace(said),
        place=record.place,
        config=AgentConfig(prompt=prompt_of(said)),
        scores={"reward": success(float(run["reward"]))},
        fields={name: value for name, value in run.items() if name != "traj"},
    )
