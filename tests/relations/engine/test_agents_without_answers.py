"""An agent that cannot answer leaves relations nothing to start from: an error, not a finding."""

import pytest

from agentmut import check_relations
from agentmut.engine.stored import stored_originals
from agentmut.errors import RunError, UsageError
from agentmut.project import load_project
from agentmut.runtime import opened
from tests.relations.engine.conftest import Shop

NO_KEY = "\ndef run(config, input):\n    raise RuntimeError('Missing credentials.')\n"


def test_an_agent_that_never_answers_is_an_error_with_the_first_reason(shop: Shop) -> None:
    project = shop.write(use=["oracle.brief"], extra={"execution": {"concurrency": 2}})
    for module in shop.folder.glob("agent_*.py"):
        module.write_text(module.read_text() + NO_KEY)
    said = r"^the agent cannot run: RuntimeError: Missing credentials\. Each of \d+ trials raised this, and no answer"
    with pytest.raises(RunError, match=said):
        check_relations(project)
    with opened(project, ()) as (session, store):
        kept, skipped = stored_originals(session, store)
    assert not kept
    assert 20 <= skipped.total() < 45  # it is given up early
    with pytest.raises(UsageError, match="left out: of an agent that could not run"):
        check_relations(project, stored=True)


def test_runs_of_scenarios_that_were_not_asked_for_are_one_note(shop: Shop) -> None:
    shop.write(
        use=["oracle.brief"], scenarios=("a", "b", "c"), extra={"relations": {"sources": 12, "pairs": 8}}
    )
    project = load_project(shop.folder)
    check_relations(project)
    report = check_relations(project, scenarios=["a"], stored=True)
    assert [note for note in report.notes if "left out" in note] == [
        "24 stored trials left out: of scenarios that were not asked for"
    ]
