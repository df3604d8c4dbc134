"""The use of model judges of facts, apart from the agent's own runs."""

from collections.abc import Iterable, Iterator

from agentmut.campaign import UsedJudge, uses
from agentmut.judging import Judge
from agentmut.nouns import JudgeSpend, JudgeUse
from agentmut.project import Project
from agentmut.relating.lane import Lane


def judges_of(lanes: Iterable[Lane], project: Project) -> tuple[JudgeUse, ...]:
    """Return what each model judge was asked, which several lanes of a scenario share."""
    return uses(
        (UsedJudge(one.asked, JudgeSpend(usage=one.usage)) for one in _judges(lanes)), project.budget.prices
    )


def _judges(lanes: Iterable[Lane]) -> Iterator[Judge]:
    """Return the judges that were asked anything, each once."""
    extractors = {id(one): one for lane in lanes for one in lane.subject.material.comparison.extractors}
    return (one for one in extractors.values() if isinstance(one, Judge) and one.usage.total)
