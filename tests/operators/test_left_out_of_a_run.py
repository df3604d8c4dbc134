"""`run` says in one line which mutants the agent cannot be run as."""

from agentmut.mutation import LEFT_OUT, DropKind, DroppedCandidate, left_out_note

HOOKLESS = "calls of lookup cannot be intercepted; mark the functions."


def dropped(operator: str, reason: str, kind: DropKind = DropKind.NOT_EXPRESSIBLE) -> DroppedCandidate:
    return DroppedCandidate(operator, "something", reason, kind)


def test_mutants_that_cannot_be_carried_out_are_counted_with_their_commonest_reason() -> None:
    left = [
        dropped("tool.rename", "the agent looks tools up by its own names"),
        *(dropped(f"tool.result_{kind}", HOOKLESS) for kind in ("empty", "error", "slow")),
        dropped("prompt.synonym", "", DropKind.DUPLICATE),
    ]
    assert list(left_out_note(left)) == [
        f"{LEFT_OUT}4 mutants of tool.rename, tool.result_empty and 2 more: calls of lookup cannot be intercepted; "
        "mark the functions. `agentmut mutants` lists them"
    ]


def test_one_mutant_is_told_in_the_singular_and_none_in_no_line() -> None:
    (one,) = left_out_note([dropped("tool.rename", HOOKLESS)])
    assert one.startswith(f"{LEFT_OUT}1 mutant of tool.rename: calls of lookup")
    assert list(left_out_note([dropped("prompt.synonym", "", DropKind.DUPLICATE)])) == []
