"""CrewAI's texts as one prompt: what changes of it is recognised in what is sent apart. Without CrewAI itself."""

import pytest

from agentmut.adapters.crewai.flow import joined, split
from agentmut.nouns.config import AgentConfig
from agentmut.nouns.footprints import Footprint, RequestShape
from agentmut.nouns.mutant import Edit, Intent, Mutant, OperatorClass, Reach
from agentmut.trial.witness.witness import Detector

TEXTS = {
    "": "You sell.\n\n- Be kind.",
    "Goal": "Help them.",
    "Task: find": "Find: {input}",
    "Expected output: find": "Facts.",
    "Task: write": "Write: {input}",
}


def sent(prompt: str) -> Footprint:
    """Two tasks, each with a request of its own; CrewAI says it in its own words."""
    texts = split(prompt, TEXTS)
    system = f"You are Clerk. {texts['']}\nYour personal goal is: {texts.get('Goal', '')}"
    tasks = (
        f"Current Task: {texts.get('Task: find', '')}. Criteria: {texts.get('Expected output: find', '')}.",
        f"Current Task: {texts.get('Task: write', '')}",
    )
    return Footprint(
        requests=tuple(
            RequestShape(text=f"{system}\n{task.replace('{input}', 'A-1')}", system=len(system))
            for task in tasks
        )
    )


def dropping(text: str) -> Mutant:
    start = joined(TEXTS).index(text)
    edit = Edit(pointer="/prompt", before=text, after="", span=(start, start + len(text)))
    return Mutant(
        id="m", operator="prompt.x", version=1, operator_class=OperatorClass.PROMPT, intent=Intent.DEGRADE,
        reach=Reach.SENT, subject="", description="", edits=(edit,),
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["You sell.", "- Be kind.", "Help them.", "Find:", "Facts.", "Write:", "\n\n## Goal\nHelp them."],
)
def test_what_is_dropped_beside_a_heading_is_seen_to_be_gone(text: str) -> None:
    base, mutant = AgentConfig(prompt=joined(TEXTS)), dropping(text)
    original = sent(base.prompt)
    detector = Detector(mutant, base).informed([original])
    assert detector.carried(original)
    assert detector.witness(original) is None
    assert detector.witness(sent(mutant.apply(base).prompt))


def test_headings_of_other_prompts_are_texts_like_any_other() -> None:
    prompt = "## Goal\nBe kind."
    edit = Edit(pointer="/prompt", before="Goal", after="Aim", span=(3, 7))
    base, mutant = AgentConfig(prompt=prompt), dropping("You sell.").model_copy(update={"edits": (edit,)})
    changed = Footprint(requests=(RequestShape(text="## Aim\nBe kind.", system=15),))
    assert Detector(mutant, base).witness(changed)
