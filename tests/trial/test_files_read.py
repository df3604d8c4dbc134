"""What requests show of files with instructions that an agent reads with its own tools."""

import json
from collections.abc import Sequence

import pytest

from agentmut.nouns.config import AgentConfig, Document
from agentmut.nouns.footprints import Footprint, footprint
from agentmut.nouns.instruction_reads import known_lines, read_of
from agentmut.nouns.messages import Exchange, Message, ModelRequest, Role
from agentmut.nouns.mutant import Edit
from agentmut.trial.witness.witness import Detector, Route
from tests.trial.bare_mutants import mutant

RULES = "# Rules\n\n- Run the tests first.\n- Never push to main.\n"
LESS = "# Rules\n\n- Never push to main.\n"
KNOWN = known_lines([RULES])


@pytest.mark.parametrize(
    "result",
    [
        RULES,
        "     1\t# Rules\n     2\t\n     3\t- Run the tests first.\n     4\t- Never push to main.",
        "     1→# Rules\n     2→\n     3→- Run the tests first.\n     4→- Never push to main.",
        "L1: # Rules\nL2: \nL3: - Run the tests first.\nL4: - Never push to main.",
        json.dumps({"output": RULES, "exit_code": 0}),
    ],
)
def test_a_file_is_known_however_a_tool_hands_it_out(result: str) -> None:
    assert read_of(result, KNOWN).split() == RULES.split()


def test_other_results_are_left_out() -> None:
    assert read_of("price = 3\n- Run\n", KNOWN) == ""
    assert read_of("a\n" * 9 + RULES + "b\n" * 9, KNOWN).count("a") < 9


def of(*texts: str, files: Sequence[str]) -> Footprint:
    system = Message(role=Role.SYSTEM, text="You are a coding agent.")
    results = [Message(role=Role.TOOL, text=text) for text in texts]
    request = ModelRequest(model="m", messages=(system, *results))
    exchange = Exchange(request, None, 200, None, 0.0, 0.1, "chat_completions")
    return footprint([exchange], files=files)


CONFIG = AgentConfig(context=(Document(name="AGENTS.md", text=RULES),), workspace=("AGENTS.md",))
AT = RULES.index("- Run")
GONE = "- Run the tests first.\n"
EDIT = Edit(pointer="/context/0/text", before=GONE, after="", span=(AT, AT + len(GONE)))


def test_a_mutant_is_witnessed_where_a_tool_has_read_the_changed_file() -> None:
    original = of(RULES, files=[RULES])
    detector = Detector(mutant(EDIT), CONFIG).informed([original])
    assert detector.carried(original)
    assert detector.witness(of(LESS, files=[LESS])) is not None
    assert detector.witness(of(RULES, files=[LESS])) is None  # a copy of the old text lies elsewhere
    assert detector.witness(of("nothing was read", files=[LESS])) is None


def test_a_scenario_whose_runs_read_another_file_does_not_carry_the_part() -> None:
    assert not Detector(mutant(EDIT), CONFIG).carried(of("price = 3", files=[RULES]))
    # of agents without such files, as before
    assert not Detector(mutant(EDIT), CONFIG).carried(of(RULES, files=[]))


def test_a_file_that_is_gone_is_witnessed_by_the_trials_own_mark() -> None:
    gone = Edit(pointer="/context/0", before=CONFIG.context[0].model_dump(mode="json"), after=None)
    detector = Detector(mutant(gone), CONFIG)
    marked = of("x", files=[]).model_copy(update={"marks": ("/context/AGENTS.md",)})
    witness = detector.witness(marked)
    assert witness is not None and witness.route is Route.LIVE
    assert detector.witness(of("x", files=[])) is None
    assert detector.carried(of(RULES, files=[RULES])) and not detector.carried(of("x", files=[RULES]))
