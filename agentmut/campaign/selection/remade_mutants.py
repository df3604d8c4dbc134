"""The mutants of a plan that was stored without texts, made again from the project."""

from collections.abc import Iterable, Iterator

from agentmut._base import UsageError
from agentmut.campaign.preparation.plan import Plan
from agentmut.campaign.preparation.plan_texts import is_wordless
from agentmut.campaign.preparation.session import Session
from agentmut.campaign.selection.choosing import operator_options
from agentmut.mutation import OperatorCatalogue, destroyed_mutant, generate, identity_mutant, pair
from agentmut.nouns import Mutant


def with_texts(session: Session, plan: Plan) -> Plan:
    """Return a stored plan with its mutants made anew. Raise `UsageError` if the project now makes other mutants."""
    if not session.tests.texts.is_hidden and not is_wordless(plan):
        return plan
    config, settings = session.suite.full, session.project.mutation
    known = {mutant.id: mutant for mutant in _made_again(session, plan)}
    identity = {m.id: m for m in (identity_mutant(config, kind) for kind in settings.identity)}
    destroyed = destroyed_mutant(config, session.adapter.cannot_express)
    wanted = [mutant.id for mutant in plan.mutants]
    same = identity.keys() >= {m.id for m in plan.identity} and destroyed.id == plan.destroyed.id
    if not same or not known.keys() >= set(wanted):
        raise UsageError(
            f"the store has no text of the mutants of run {plan.run_id} (store.texts), and the project makes others "
            "now. Start a new run with `agentmut run`: finished trials that still apply are reused."
        )
    return plan.model_copy(
        update={
            "mutants": tuple(known[id_] for id_ in wanted),
            "identity": tuple(identity[mutant.id] for mutant in plan.identity),
            "destroyed": destroyed,
        }
    )


def _made_again(session: Session, plan: Plan) -> Iterator[Mutant]:
    settings, config = session.project.mutation, session.suite.full
    catalogue = OperatorCatalogue.from_references(settings.own_operators, session.project.root)
    used = {single.operator for mutant in plan.mutants for single in (mutant.parts or (mutant,))}
    operators = [catalogue.load(name) for name in catalogue.names if name in used]
    made = generate(config, operators, operator_options(settings), session.adapter.cannot_express).mutants
    yield from made
    yield from _pairs(plan.mutants, {mutant.id: mutant for mutant in made}, session)


def _pairs(mutants: Iterable[Mutant], made: dict[str, Mutant], session: Session) -> Iterator[Mutant]:
    for mutant in mutants:
        if mutant.parts and all(part.id in made for part in mutant.parts):
            first, second = (made[part.id] for part in mutant.parts)
            paired = pair(first, second, session.suite.full)
            if isinstance(paired, Mutant):
                yield paired
