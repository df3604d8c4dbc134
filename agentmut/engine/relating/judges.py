"""What model judges took besides the agent's own runs."""

from collections.abc import Iterable, Iterator

from agentmut.engine.pricing import Pricer
from agentmut.engine.relating.lane import Lane
from agentmut.facts.judge import Judge
from agentmut.project import Project
from agentmut.relation_report import JudgeUse
from agentmut.trace import Usage


def judges_of(lanes: Iterable[Lane], project: Project) -> tuple[JudgeUse, ...]:
    """What each model judge was asked, which several lanes of a scenario share."""
    found: dict[str, Usage] = {}
    usd: dict[str, float | None] = {}
    for judge in _judges(lanes):
        name = f"{judge.provider}:{judge.model}"
        found[name] = found.get(name, Usage()) + judge.usage
        cost = Pricer(project.budget.prices, judge.provider).cost(judge.model, judge.usage)
        before = usd.get(name, 0.0)
        usd[name] = None if cost is None or before is None else before + cost
    return tuple(
        JudgeUse(
            model=name,
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            usd=_rounded(usd[name]),
        )
        for name, used in found.items()
    )


def _judges(lanes: Iterable[Lane]) -> Iterator[Judge]:
    """Those that were asked anything, each once."""
    extractors = {id(one): one for lane in lanes for one in lane.subject.material.comparison.extractors}
    return (one for one in extractors.values() if isinstance(one, Judge) and one.usage.total)


def _rounded(usd: float | None) -> float | None:
    return None if usd is None else round(usd, 6)
