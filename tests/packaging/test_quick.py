"""The choice of `make quick`: tests that reach a change over imports, the nearest first."""

import pytest

from tests import quick


def names(*files: str) -> list[str]:
    return [str(file.relative_to(quick.ROOT)) for file in quick.nearest_tests(files)]


def test_a_face_is_seen_through() -> None:
    assert quick.definition("agentmut", "AgentConfig") == "agentmut.nouns.config"
    assert quick.definition("agentmut.nouns", "Mutant") == "agentmut.nouns.mutant"
    assert quick.definition("agentmut.stats", "kill") == "agentmut.stats.kill"


def test_a_changed_test_comes_first_and_alone_where_nothing_imports_it() -> None:
    assert names("tests/packaging/test_quick.py") == ["tests/packaging/test_quick.py"]


def test_a_test_that_imports_the_changed_module_comes_before_one_that_is_further_away() -> None:
    found = names("agentmut/nouns/flow.py")
    direct = "tests/insight/coverage/test_graph.py"
    assert (
        "import flow" in (quick.ROOT / direct).read_text()
        or "nouns.flow" in (quick.ROOT / direct).read_text()
    )
    assert found.index(direct) < found.index("tests/judging/test_expression_evaluator.py")


def test_a_page_is_checked_by_the_tests_of_pages_and_nothing_by_none() -> None:
    assert all(name.startswith("tests/docs/") for name in names("docs/wire.md"))
    assert names() == []


def test_a_file_whose_tests_are_all_slow_is_left_out() -> None:
    assert "tests/packaging/test_wheel.py" not in names("tests/packaging/test_wheel.py")


def test_an_unknown_revision_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(SystemExit, match="Name a revision with SINCE="):
        quick.changed_files("no-such-revision")
