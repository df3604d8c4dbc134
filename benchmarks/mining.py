"""What explaining survivors costs, each figure beside its target.

`python benchmarks/mining.py` prints one line per figure (the quickest of several runs, on one core) and exits with 1
when a target is missed.
"""

import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from agentmut.insight.explain.behaviour import ComparedRuns, TraceTest  # noqa: E402
from agentmut.insight.explain.mining import mine  # noqa: E402
from agentmut.insight.fingerprint import fingerprint  # noqa: E402
from agentmut.nouns.trace import AgentTrace  # noqa: E402
from tests.insight.explain.campaigns import campaign_of, trace  # noqa: E402

CONSONANTS, VOWELS = "bdfglmnprstvwzk", "aeiou"
SYLLABLES = tuple(c + v for c in CONSONANTS for v in VOWELS)
WORDS = tuple(first + last for first in SYLLABLES for last in SYLLABLES)[::11]
SCENARIOS = tuple("abcde")
SURVIVORS, ORIGINAL, BLOCK = 100, 100, 11


def best_of(times: int, action: Callable[[], object]) -> float:
    """Return seconds of the quickest of `times` calls: what else the machine does only ever adds."""
    found = []
    for _ in range(times):
        begun = time.process_time()
        action()
        found.append(time.process_time() - begun)
    return min(found)


def desk(rng: random.Random, *, refunds: bool = True) -> AgentTrace:
    """Return a run of a support agent: two or three tool calls, an answer of some eighty words."""
    note = " ".join(rng.sample(WORDS, 6))
    order = {"order_id": "A-1042", "email": "jo@example.com"}
    refund = [("issue_refund", {"order_id": "A-1042", "amount": 89.9, "note": note})] if refunds else []
    around = [" ".join(rng.sample(WORDS, 25)) for _ in range(2)]
    answer = (
        f"{around[0]}. Your refund of 89.90 EUR arrives within five working days. {around[1]}. Thank you for your "
        "patience. Is there anything else I can do for you?"
    )
    return trace("lookup_order", ("verify_identity", order), *refund, answer=answer)


def mining() -> float:
    """Return assertions for one survivor over 160 runs of the original and 40 of the mutant, traces in memory."""
    rng = random.Random(1)
    original, mutant = [desk(rng) for _ in range(160)], [desk(rng, refunds=False) for _ in range(40)]
    with tempfile.TemporaryDirectory() as folder:
        campaign = campaign_of(Path(folder), {"": {"s": original}, "m": {"s": mutant}})
        assert mine(campaign, "m", others=[])
        seconds = best_of(3, lambda: mine(campaign, "m", others=[]))
        campaign.store.close()
    return seconds


def gaps() -> float:
    """Return the trace test of 100 survivors on five scenarios, from stored traces; no one has changed, the slowest
    case.
    """
    rng = random.Random(1)
    names = [f"m{i}" for i in range(SURVIVORS)]
    runs = {name: {s: [desk(rng) for _ in range(BLOCK)] for s in SCENARIOS} for name in names}
    runs[""] = {s: [desk(rng) for _ in range(ORIGINAL)] for s in SCENARIOS}
    with tempfile.TemporaryDirectory() as folder:
        campaign = campaign_of(Path(folder), runs)

        def explain() -> None:
            prints = {s: [fingerprint(t.execution) for t in kept] for s, kept in campaign.original.items()}
            test = TraceTest(prints, 1)
            for name in names:
                tried = campaign.trials_of_mutant(name).items()
                test.change(
                    name, [ComparedRuns(s, [fingerprint(t.execution) for t in kept]) for s, kept in tried]
                )

        seconds = best_of(1, explain)
        campaign.store.close()
    return seconds


TARGETS = (
    ("assertions mined for one survivor over 200 traces", mining, 2.0),
    ("trace test of 100 survivors on 5 scenarios", gaps, 15.0),
)


def main() -> int:
    """Print every figure; 1 when one misses its target."""
    missed = 0
    for name, measured, target in TARGETS:
        seconds = measured()
        missed += seconds > target
        print(f"{name:52} {seconds:8.3f} s   target {target:g} s{'   MISSED' if seconds > target else ''}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
