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


def test_the_nearest_tests_come_first_pages_have_those_of_pages_and_files_of_slow_tests_are_left_out() -> (
    None
):
    # one test for all of these: each worker that runs one reads the imports of all files, which takes seconds
    found = names("agentmut/nouns/flow.py")
    direct = "tests/insight/coverage/test_graph.py"
    assert "nouns.flow import" in (quick.ROOT / direct).read_text()
    assert found.index(direct) < found.index("tests/judging/test_expression_evaluator.py")
    assert all(name.startswith("tests/docs/") for name in names("docs/wire.md"))
    assert names() == []
    assert "tests/packaging/test_wheel.py" not in names("tests/packaging/test_wheel.py")


def test_an_unknown_revision_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(SystemExit, match="Name a revision with SINCE="):
        quick.changed_files("no-such-revision")
