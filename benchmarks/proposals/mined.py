"""What is mined of the survivors of a project with a finished run, as rows of the sheet."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import JsonValue

from agentmut._base import canonical_json
from agentmut.campaign import open_session, stored_campaign
from agentmut.insight import StoredRuns, mine
from agentmut.nouns import AssertionSuggestion
from agentmut.project import load_project
from agentmut.usecases import open_store


def rows(folder: Path) -> Iterator[dict[str, str]]:
    """Yield the proposed assertions among the best three of each survivor of a project's latest run.

    What only differs between the runs is no proposal; `agentmut show` lists it apart.
    """
    for row, one in mined_rows(folder, 3):
        if one.firm:
            yield row


def found_on(folder: Path) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Yield input, rule and assertion of all that is mined of each survivor, with its ground."""
    for row, one in mined_rows(folder, 8):
        yield (row["input"], row["rule"], row["assertion"]), one.basis.value


def inputs_of(folder: Path) -> set[str]:
    """Return the inputs of a project's scenarios, as the sheet writes them."""
    return {_input(scenario.turns) for scenario in load_project(folder).scenarios}


def _input(turns: Sequence[JsonValue]) -> str:
    return " / ".join(turn if isinstance(turn, str) else canonical_json(turn) for turn in turns)


def mined_rows(folder: Path, limit: int) -> Iterator[tuple[dict[str, str], AssertionSuggestion]]:
    """Yield what is mined of each survivor of a project's latest run, as a row of the sheet and as it is."""
    project = load_project(folder)
    with open_store(project) as store:
        session = open_session(project)
        stored = StoredRuns(stored_campaign(session, store))
        for row in stored.campaign.result().mutants:
            if row.gap != "assertion":
                continue
            meaning = stored.meaning(row.id)
            rule = meaning.rule if meaning else ""
            for one in mine(stored.campaign, row.id, limit=limit, stored=stored):
                said = _input(session.tests.scenarios[one.scenario].turns)
                assertion = f"{one.evaluator.name}: {canonical_json(one.evaluator.argument)}"
                shown = rule or row.subject or row.description
                yield {"input": said, "rule": shown, "assertion": assertion}, one
