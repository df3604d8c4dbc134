"""The savings of forking at the fault, and the reasons where forking was impossible, in words."""

from collections.abc import Iterator

from agentmut.campaign.decision.state import CampaignState


def fork_notes(state: CampaignState) -> Iterator[str]:
    """Yield the share of requests that recorded runs answered, and the scenarios whose runs were not taken."""
    tallies = [arm.tally for arm in state.arms.values()]
    recalled, asked = sum(tally.recalled for tally in tallies), sum(tally.asked for tally in tallies)
    if recalled:
        yield (
            f"recorded runs of the original answered {recalled} of {asked} model requests of mutants' trials; "
            "tokens and cost count only the other requests"
        )
    for scenario, named in state.unforked.refused.items():
        yield (
            f"execution.fork was no use on {scenario}, whose mutants ran live: its requests name {named}, "
            "which a recorded run does not have"
        )
    for scenario, trials in state.unforked.unrecorded.items():
        yield (
            f"execution.fork was no use in {trials} trials of mutants on {scenario}: the baseline's runs are older "
            "than this setting, so they are not recorded. `--fresh` makes a new baseline"
        )
