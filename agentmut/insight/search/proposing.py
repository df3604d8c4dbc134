"""What a search has found, as suggestions to be confirmed by a person."""

from collections.abc import Iterator

from agentmut._base import digest_of
from agentmut.insight.search.search import Ended
from agentmut.insight.search.trying import Found
from agentmut.nouns import ScenarioSuggestion


def scenario_suggestions(ended: Ended) -> tuple[ScenarioSuggestion, ...]:
    """One for each scenario that was kept, in the order in which they were found."""
    return tuple(_suggestion(found) for found in ended.kept)


def _suggestion(found: Found) -> ScenarioSuggestion:
    scenario = found.scenario
    return ScenarioSuggestion(
        id=digest_of(scenario.model_dump(mode="json"))[:8],
        scenario=scenario,
        origin=found.proposal.origin,
        aim=found.proposal.goal,
        why="; ".join(_why(found)),
        adds=found.adds,
        kills=found.kills,
        passes=found.passes,
        trials=found.trials,
    )


def _why(found: Found) -> Iterator[str]:
    if found.adds:
        yield f"reaches {len(found.adds)} item{'s' * (len(found.adds) != 1)} that no scenario covers"
    if found.kills:
        yield f"kills {len(found.kills)} mutant{'s' * (len(found.kills) != 1)} that the suite lets live"
    yield "its evaluators say what the agent did, which need not be right: confirm or change them"
    if found.made_up:
        yield f'the made-up double of {", ".join(found.made_up)} answers {{"ok": true}}: put a likely result there'
    if found.recorded:
        yield (
            f"the double of {', '.join(found.recorded)} repeats what a stored run was answered, whatever it is asked: "
            "see whether that fits"
        )
