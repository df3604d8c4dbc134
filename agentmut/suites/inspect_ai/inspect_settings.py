"""The settings of an inspect_ai task in a project: `suite: {inspect: evals/task.py@name}`."""

from pydantic import Field, JsonValue

from agentmut._base import Frozen, PassScore
from agentmut.suites.called_agent import Raised

WHERE = "suite.inspect"


class InspectSettings(Frozen):
    """Which task and samples to run, and how scores are judged."""

    task: str
    """As inspect_ai has it: `file.py@name`, `file.py` where it holds one task, or `package/name`."""
    args: dict[str, JsonValue] = Field(default_factory=dict)
    """Arguments of the task."""
    solver: str | None = None
    """`module:factory` of a solver in the place of the task's; it takes the config, alone or as `agentmut_config`."""
    model: str | None = None
    """As in `inspect eval --model`; else the task's own, INSPECT_EVAL_MODEL, or that of the config."""
    samples: tuple[str | int, ...] = ()
    """Ids of the samples to use; all where there are none."""
    limit: int | None = Field(default=None, ge=1)
    """The first so many of them."""
    ignore: tuple[str, ...] = ()
    """Names of scorers that judge nothing."""
    pass_score: PassScore = None
    """The least score that passes, of all scorers or by their names."""
    raised: Raised = "error"
    """What an exception of a sample's solver counts as."""
