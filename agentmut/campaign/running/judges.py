"""The use of model judges, apart from the agent's own model calls."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from agentmut.campaign.preparation.session import Session
from agentmut.campaign.trials import Suite
from agentmut.judging import spend, unwrapped
from agentmut.nouns import JudgeModel, JudgeSpend, JudgeUse, Usage
from agentmut.project import Price
from agentmut.seams import AsksModel
from agentmut.trial import Pricer


class UsedJudge(NamedTuple):
    """A judge's model, and the use of one judge."""

    model: JudgeModel
    spend: JudgeSpend


def asked_by(suite: Suite) -> Iterator[UsedJudge]:
    """Yield the model judges among a suite's evaluators."""
    for evaluators in suite.evaluators.values():
        for evaluator in evaluators:
            if isinstance(inner := unwrapped(evaluator), AsksModel):
                yield UsedJudge(inner.model, spend(evaluator))


def uses(asked: Iterable[UsedJudge], prices: Mapping[str, Price]) -> tuple[JudgeUse, ...]:
    """List the use of each judge model, in the order of the first judge of each; models without use are left out."""
    spending: dict[JudgeModel, JudgeSpend] = {}
    for model, spent in asked:
        if spent != JudgeSpend():
            spending[model] = spending.get(model, JudgeSpend()) + spent
    return tuple(_use(model, spent, prices) for model, spent in spending.items())


def judges_used(session: Session, of_suite: Iterable[JudgeUse] = ()) -> tuple[JudgeUse, ...]:
    """Return the use of the session's judges since the session was opened; `of_suite` is the use of a suite's own
    judge.
    """
    rounded = (use.model_copy(update={"usd": use.usd and round(use.usd, 6)}) for use in of_suite)
    return (*uses(asked_by(session.tests), session.project.budget.prices), *rounded)


def judges_usd(session: Session) -> float:
    """Return the cost of the session's judges in dollars, as far as prices are known."""
    return sum(use.usd or 0.0 for use in judges_used(session))


def _use(model: JudgeModel, spent: JudgeSpend, prices: Mapping[str, Price]) -> JudgeUse:
    cost = Pricer(prices, model.provider).cost(model.name, spent.usage) if spent.usage != Usage() else None
    unpaid = spent.usage == Usage() and not spent.questions
    return JudgeUse(
        model=str(model),
        input_tokens=spent.usage.input_tokens,
        output_tokens=spent.usage.output_tokens,
        usd=0.0 if unpaid else None if cost is None else round(cost, 6),
        questions=spent.questions,
        reused=spent.reused,
    )
