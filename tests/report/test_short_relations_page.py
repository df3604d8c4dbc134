"""The short page of relations has what was violated; the full one has every row."""

from agentmut.report.terminal.relations_page import SHOWN, render_relations
from agentmut.store import Finding, RelationReport, RelationRow
from tests.report.test_outcome_files import related, relation

SETTINGS = {"delta": 0.2, "tolerance": 0.1, "beta": 0.1}


def of(name: str, finding: Finding) -> RelationRow:
    return relation("desk", finding).model_copy(update={"relation": name})


def report() -> RelationReport:
    rows = (
        of("kept_a", Finding.PASS),
        of("kept_b", Finding.PASS),
        of("unfit", Finding.NOT_APPLICABLE),
        *(of(f"open_{n}", Finding.INCONCLUSIVE) for n in range(SHOWN + 2)),
        of("violated", Finding.FAIL),
    )
    return related(*rows).model_copy(update={"settings": SETTINGS})


def test_the_short_page_names_kept_relations_once_and_has_no_row_of_them() -> None:
    short = render_relations(report(), full=False)
    assert "PASS on every scenario: kept_a, kept_b" in short
    assert "kept_a\n" not in short and "kept_a\n" in render_relations(report())


def test_the_short_page_has_few_examples_the_failed_check_first_and_counts_the_others() -> None:
    short, full = render_relations(report(), full=False), render_relations(report())
    assert short.count("desk: INCONCLUSIVE") == SHOWN - 1 and "desk: FAIL" in short
    assert full.count("desk: INCONCLUSIVE") == SHOWN + 2
    said = " ".join(short.split())
    assert "`agentmut report --full` shows every row, 3 more examples, why 1 check did not apply." in said
    assert "Not applicable, and in no count" not in short and "Not applicable, and in no count: 1" in full


def test_the_last_paragraph_of_the_short_page_says_where_the_rest_is() -> None:
    """A terminal shows the last paragraph of a page that it cuts."""
    assert "report --full" in render_relations(report(), full=False).rstrip().rpartition("\n\n")[2]
    assert "report --full" not in render_relations(report())


def test_a_short_page_on_which_all_is_kept_has_no_table() -> None:
    kept = related(of("kept", Finding.PASS)).model_copy(update={"settings": SETTINGS})
    short = render_relations(kept, full=False)
    assert "PASS on every scenario: kept" in short and "violated: of the pairs" not in short
