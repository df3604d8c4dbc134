"""The failure of a campaign in which every mutant of one route ended as `error`: it says nothing about the suite."""

from collections import Counter
from collections.abc import Iterable, Sequence

from agentmut.campaign.decision.arm import Arm
from agentmut.nouns import Mutant, Status

_SIGNED = (
    ". The refusal speaks of a signature: a request that is changed after it was signed (AWS SigV4) is refused. Where "
    "the agent asks Bedrock through boto3, agentmut changes requests before they are signed; where it signs them "
    "itself and sends them by httpx, agentmut signs them again if botocore finds the same key in the environment"
)


def all_errors(arms: Iterable[Arm]) -> str:
    """Return the failure message if every mutant that one route tried ended as `error`; an empty text otherwise.

    The routes are the agent's requests or its config on the one hand, and its flow, its history and faults of its tools
    on the other: these need no request to be changed.
    """
    decided = [
        arm for arm in arms if arm.status is not None and not arm.mutant.operator.startswith("control.")
    ]
    live = [arm for arm in decided if _is_live(arm.mutant)]
    groups = (
        ([arm for arm in decided if arm not in live], "prompt, tools, model or documents"),
        (live, "what a run does"),
    )
    return next((failure for group, what in groups if (failure := _failure_of(group, what))), "")


def _failure_of(arms: Sequence[Arm], changed_thing: str) -> str:
    if not arms or any(arm.status is not Status.ERROR for arm in arms):
        return ""
    cause = Counter(arm.reason for arm in arms).most_common(1)[0][0].rstrip(". ")
    number = f"all {len(arms)} mutants" if len(arms) > 1 else "the only mutant"
    signed = _SIGNED if "signature" in cause.lower() else ""
    return f"{number} that changed {changed_thing} ended as error, so the score says nothing: {cause}{signed}"


def _is_live(mutant: Mutant) -> bool:
    return all(edit.part in ("orchestration", "history") or edit.path[-1] == "fault" for edit in mutant.edits)
