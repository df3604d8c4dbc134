"""A rule beside a date, a name or a retrieved text: the witness asks only for what all original requests share."""

import pytest

from agentmut.nouns.config import AgentConfig
from agentmut.nouns.footprints import Footprint, RequestShape
from agentmut.nouns.mutant import Mutant, prompt_edit
from agentmut.trial.witness.absence import absence
from agentmut.trial.witness.witness import Detector
from tests.trial.bare_mutants import mutant

RULES = "You are a desk. Never promise a date. Ask for the order number first. "
SAVED = f"{RULES}Today is 2026-11-20 and the user is called Ada Brook."
CONFIG = AgentConfig(prompt=SAVED)


def change(before: str, after: str) -> Mutant:
    start = SAVED.index(before)
    return mutant(prompt_edit(SAVED, start, start + len(before), after))


def sent(*texts: str) -> Footprint:
    return Footprint(requests=tuple(RequestShape(text=text, system=len(text)) for text in texts))


def on(day: str, user: str, rules: str = RULES) -> Footprint:
    return sent(f"{rules}Today is {day} and the user is called {user}.")


ORIGINALS = [on("2026-11-27", "Ben Stone"), on("2026-11-27", "Cy Young")]
LAST = "Ask for the order number first. "


@pytest.mark.parametrize(
    ("before", "after"),
    [(LAST, ""), ("number first", "name last"), ("first", "last"), ("first. ", "first. Be kind. ")],
)
def test_a_rule_beside_a_date_is_witnessed_on_another_day(before: str, after: str) -> None:
    detector = Detector(change(before, after), CONFIG).informed(ORIGINALS)
    assert all(map(detector.carried, ORIGINALS))
    mutated = RULES.replace(before, after)
    assert detector.witness(on("2026-11-27", "Cy Young", mutated)) is not None
    # the clock went on during the run
    assert detector.witness(on("2026-12-01", "Dee Park", mutated)) is not None
    assert all(detector.witness(seen) is None for seen in (*ORIGINALS, on("2026-12-01", "Dee Park")))


def test_without_what_the_original_sends_the_whole_surroundings_are_asked_for() -> None:
    detector = Detector(change(LAST, ""), CONFIG)
    assert not detector.carried(ORIGINALS[0])


def test_a_change_that_leaves_nothing_to_tell_it_by_is_not_witnessed() -> None:
    config = AgentConfig(prompt="12:01 Ada. Be kind. 12:02 Ada.")
    start = config.prompt.index("Be kind. ")
    gone = mutant(prompt_edit(config.prompt, start, start + 9, ""))
    originals = [sent("12:07 Ben. Be kind. 12:09 Ben."), sent("13:07 Cy. Be kind. 13:09 Cy.")]
    detector = Detector(gone, config).informed(originals)
    assert detector.witness(sent("12:07 Ben. 12:09 Ben.")) is None


SHOP = "Always name the shop in the answer. "
BETWEEN = AgentConfig(
    prompt="You are a desk of a shop for tents. {now} Ada. SHOP{now} Ada.".replace("SHOP", SHOP)
)


def between(at: str, user: str, rule: str = SHOP) -> Footprint:
    return sent(f"You are a desk of a shop for tents. {at} {user}. {rule}{at} {user}.")


def without_shop() -> Mutant:
    start = BETWEEN.prompt.index(SHOP)
    return mutant(prompt_edit(BETWEEN.prompt, start, start + len(SHOP), ""))


def test_a_long_rule_between_texts_that_both_move_is_recognised_by_its_absence() -> None:
    originals = [between("one", "Ben"), between("two", "Cy")]
    detector = Detector(without_shop(), BETWEEN).informed(originals)
    assert all(map(detector.carried, originals))
    assert detector.witness(between("three", "Dee", "")) is not None
    assert detector.witness(sent("Another agent, at three.")) is None  # says nothing of this prompt
    assert all(detector.witness(seen) is None for seen in originals)


def test_an_agent_that_leaves_the_rule_out_by_itself_proves_nothing() -> None:
    originals = [between("one", "Ben"), between("one", "Ben", "")]
    detector = Detector(without_shop(), BETWEEN).informed(originals)
    assert detector.witness(originals[1]) is None


def test_the_reason_says_that_the_surroundings_move_where_the_text_itself_is_sent() -> None:
    gone = change("Today is", "It is")
    said = absence(gone, CONFIG, [on("2026-12-01", "Dee Park", "Other rules. ")], None)
    assert said.startswith('requests have the text "Today is", but too little of what stands around it')


def test_a_text_that_the_original_sends_as_well_proves_nothing() -> None:
    both = [sent(f"{RULES}Today is 2026-11-27. Earlier: Never promise a date. Today is fine.")]
    detector = Detector(change(LAST, ""), CONFIG).informed(both)
    assert detector.witness(both[0]) is None


def test_a_steady_prompt_keeps_all_of_its_surroundings() -> None:
    prompt = "You are a desk. Never promise a date. Ask for the order number first. Close kindly."
    start = prompt.index(LAST)
    one = mutant(prompt_edit(prompt, start, start + len(LAST), ""))
    config = AgentConfig(prompt=prompt)
    detector = Detector(one, config).informed([sent(prompt)])
    assert detector.witness(sent(prompt.replace(LAST, ""))) is not None
    assert detector.witness(sent("Never promise a date. Close")) is None
