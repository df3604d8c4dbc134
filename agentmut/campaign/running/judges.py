"""What model judges took, apart from the agent's own runs."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from agentmut.campaign.preparation.session import Session
from agentmut.campaign.trials import Suite
from agentmut.judging import unwrapped
from agentmut.nouns import JudgeModel, JudgeSpend, JudgeUse, Usage
from agentmut.project import Price
from agentmut.seams import AsksModel
from agentmut.trial import Pricer


class Asked(NamedTuple):
    """A model and what one judge took of it."""

    model: JudgeModel
    spend: JudgeSpend


def asked_by(suite: Suite) -> Iterator[Asked]:
    """The model judges among a suite's evaluators."""
    for evaluators in suite.evaluators.values():
        for evaluator in map(unwrapped, evaluators):
            if isinstance(evaluator, AsksModel):
                yield Asked(evaluator.model, evaluator.spend)


def uses(asked: Iterable[Asked], prices: Mapping[str, Price]) -> tuple[JudgeUse, ...]:
    """List the use of each judge model, in the order of their first judge; unused models are left out."""
    found: dict[JudgeModel, JudgeSpend] = {}
    for model, spend in asked:
        if spend != JudgeSpend():
            found[model] = found.get(model, JudgeSpend()) + spend
    return tuple(_use(model, spend, prices) for model, spend in found.items())


def judges_used(session: Session, of_suite: Iterable[JudgeUse] = ()) -> tuple[JudgeUse, ...]:
    """What the judges of a session's scenarios took since it was opened; `of_suite`, those of a suite that judges."""
    rounded = (use.model_copy(update={"usd": use.usd and round(use.usd, 6)}) for use in of_suite)
    return (*uses(asked_by(session.tests), session.project.budget.prices), *rounded)


def judges_usd(session: Session) -> float:
    """What they cost, as far as prices are known."""
    return sum(use.usd or 0.0 for use in judges_used(session))


def _use(model: JudgeModel, spend: JudgeSpend, prices: Mapping[str, Price]) -> JudgeUse:
    cost = Pricer(prices, model.provider).cost(model.name, spend.usage) if spend.usage != Usage() else None
    unpaid = spend.usage == Usage() and not spend.questions
    return JudgeUse(
        model=str(model),
        input_tokens=spend.usage.input_tokens,
        output_tokens=spend.usage.output_tokens,
        usd=0.0 if unpaid else None if cost is None else round(cost, 6),
        questions=spend.questions,
        reused=spend.reused,
    )
