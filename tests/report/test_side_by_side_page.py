"""Two runs in two columns, as a terminal shows them."""

from agentmut.insight import Event, EventKind, RunView, side_by_side
from agentmut.report.paint import Page
from agentmut.report.terminal.side_by_side_page import add_side_by_side


def view(trial: int, *events: tuple[EventKind, str], outcome: str = "pass", reason: str = "") -> RunView:
    return RunView(
        trial=trial, mutant="", outcome=outcome, reason=reason, seconds=1.0, tokens=10, usd=0.002,
        events=tuple(Event(kind=kind, text=text) for kind, text in events),
    )  # fmt: skip


def page_of(original: RunView, mutant: RunView) -> str:
    page = Page(color=False)
    add_side_by_side(page, [side_by_side("refund", "typical", original, mutant)], "abc1")
    return page.text()


def test_what_both_did_goes_over_the_whole_width_and_the_rest_in_columns() -> None:
    asked = (EventKind.USER, "Where is it?")
    text = page_of(
        view(3, asked, (EventKind.ANSWER, "It is on its way.")),
        view(9, asked, (EventKind.ANSWER, "It is lost."), outcome="fail", reason="the answer lacks 'way'"),
    )
    lines = text.splitlines()
    assert lines[0] == "Side by side on refund: a typical run of each"
    assert lines[1] == "original, trial 3: pass, 1.0 s,        | mutant, trial 9: fail, 1.0 s, $0.0020"
    assert "  user: Where is it?" in lines
    assert "answers: It is on its way.             | answers: It is lost." in lines
    assert "    only the original says: on, its, way" in lines
    assert "    only the mutant says: lost" in lines
    assert "trial 9 fails: the answer lacks 'way'" in lines
    assert "`agentmut show abc1 --trial N` shows another run" in " ".join(lines)


def test_long_and_hostile_texts_are_cut_and_cleaned() -> None:
    text = page_of(
        view(1, (EventKind.ANSWER, "a\x1b[31m" + "b " * 1000)), view(2, (EventKind.ANSWER, "x" * 90))
    )
    assert "\x1b" not in text and "a?[31mb b" in text
    assert "more characters)" in text
    assert max(map(len, text.splitlines())) <= 80
