"""What the reports say of changes that reached their agent in part."""

import pytest

from agentmut.nouns.mutant import Intent, OperatorClass, Status
from agentmut.nouns.mutant_row import MutantRow, Target, WitnessSummary
from agentmut.report.terminal.partial_delivery import delivery_note


def row(parts: tuple[str, ...] = (), **witness: int) -> MutantRow:
    summary = WitnessSummary(route="sent", **{"trials": 4, "of": 5, **witness})
    return MutantRow(
        id="m1", operator="prompt.drop_instruction", operator_class=OperatorClass.PROMPT, intent=Intent.DEGRADE,
        status=Status.SURVIVED, target=Target(path="p.md"), before="a", after="b", description="d", parts=parts,
        witness=summary,
    )  # fmt: skip


WHOLE = {
    "edits": 2, "edits_seen": 2, "fewest_edits": 2,
    "requests": 8, "requests_shown": 8, "prompts": 1, "prompts_shown": 1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""),
        (
            {"requests_shown": 4, "first_missed": 4},
            "reached 4 of 8 requests that could have shown it; not the first one of a run",
        ),
        (
            {"requests_shown": 6, "first_missed": 1, "prompts": 3, "prompts_shown": 2},
            "reached 6 of 8 requests that could have shown it; not the first one in 1 of 4 runs; in the requests of 2 "
            "of 3 system prompts",
        ),
        ({"edits_seen": 1, "fewest_edits": 1}, "1 of its 2 edits showed"),
        ({"fewest_edits": 1}, "some runs showed only 1 of its 2 edits"),
    ],
)
def test_only_what_is_missing_is_said(changes: dict[str, int], said: str) -> None:
    assert delivery_note(row((), **{**WHOLE, **changes})) == said


def test_a_pair_of_which_a_scenario_reaches_one_part_is_no_partial_delivery() -> None:
    assert delivery_note(row(("a", "b"), **{**WHOLE, "fewest_edits": 1})) == ""


def test_results_of_earlier_versions_say_nothing_of_it() -> None:
    assert WitnessSummary.model_validate({"route": "sent", "trials": 3, "of": 3}).requests == 0
    assert delivery_note(row()) == ""
