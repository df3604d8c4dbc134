"""The user mentions something irrelevant, or an irrelevant document is retrieved."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from agentmut.nouns import AgentConfig, Edit, Family, FollowUp, FollowUpRun, Scenario, Source
from agentmut.relations.invariants import Invariant, reworded
from agentmut.relations.perturbation.unrelated import unrelated_documents, unrelated_remarks
from agentmut.relations.turns import Change, Turn, lack_of_turns, lowered, said, turns_of
from agentmut.seams import RelationExample, answer, example

_LEADS = ("", "By the way: ", "Just in passing: ", "As an aside: ")


class IrrelevantContext(Invariant):
    """The user mentions something irrelevant, or the agent also gets an unrelated document."""

    id: ClassVar[str] = "perturbation.irrelevant_context"
    family: ClassVar[Family] = Family.PERTURBATION
    why: ClassVar[str] = "A remark or a passage that has nothing to do with the question changes the answer."

    def lack(self, scenario: Scenario, config: AgentConfig) -> str:
        """Return why nothing can be added, in a phrase; empty where it can."""
        if config.context and unrelated_documents(scenario, config):
            return ""
        if why := lack_of_turns(scenario):
            return why
        return "" if unrelated_remarks(scenario, config) else "no remark is sure to be unrelated to the agent"

    def follow_up(self, source: Source) -> FollowUp | None:
        """Return a remark before or after a turn, or, where the agent has documents, a further one; drawn by chance."""
        scenario, config, rng = source.scenario, source.config, source.rng
        documents = unrelated_documents(scenario, config) if config.context else ()
        remarks = unrelated_remarks(scenario, config)
        turns = turns_of(scenario, config) if remarks else ()
        if documents and (not turns or rng.random() < 0.5):
            return _with_document(source, rng.randrange(len(documents)))
        if not turns:
            return None
        turn = rng.choice(turns)
        return reworded(scenario, turn, [rng.choice(list(_added(turn, remarks)))])

    def examples(self) -> Iterable[RelationExample]:
        """Yield a question about a fee, with a remark."""
        asked, told = "Which fee is open on my card R-4712?", answer("A fee of 4 euros is open.")
        yield example(asked, told, answer("How nice! There is an open fee of 4 euros."), True)
        yield example(asked, told, answer("A fee of 40 euros is open."), False)


def _added(turn: Turn, remarks: Sequence[str]) -> Iterator[Change]:
    end = len(turn.text.rstrip())
    # After a text without a stop, such as a list or "my address is:", a remark would be read as its end.
    closed = turn.text[end - 1 : end] in (*".!?",)
    for remark in remarks:
        for lead in _LEADS:
            text = f"{lead}{lowered(remark) if lead else remark}"
            yield Change(0, 0, f"{text} ", f"{said(remark)} before it")
            if closed:
                yield Change(end, end, f" {text}", f"{said(remark)} after it")


def _with_document(source: Source, index: int) -> FollowUp:
    document = unrelated_documents(source.scenario, source.config)[index]
    place = source.rng.randint(0, len(source.config.context))
    edit = Edit(pointer=f"/context/{place}", before=None, after=document.model_dump(mode="json"))
    return FollowUp(
        runs=(FollowUpRun(edits=(edit,)),),
        description=f"the unrelated document {said(document.name)} as number {place + 1}",
    )
