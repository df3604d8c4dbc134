"""Model judges for a terminal: what they took, and how far they can be trusted."""

from collections.abc import Iterator
from typing import Protocol

from agentmut.nouns import JudgeUse
from agentmut.report.paint import clean


class HasJudges(Protocol):
    """A report that says what model judges took."""

    @property
    def judges(self) -> tuple[JudgeUse, ...]:
        """By model."""
        ...


def judged_with(report: HasJudges) -> Iterator[str]:
    """Tokens and money of model judges, which the line on the agent's runs does not count."""
    for judge in report.judges:
        money = "cost unknown" if judge.usd is None else f"${judge.usd:.4f}"
        tokens = f"{judge.input_tokens + judge.output_tokens} tokens"
        asked = f"{judge.questions} questions, " if judge.questions or judge.reused else ""
        reused = f"; {judge.reused} opinions reused from earlier" if judge.reused else ""
        yield f"judge {clean(judge.model)}: {asked}{tokens}, {money}, besides the agent's runs{reused}"
