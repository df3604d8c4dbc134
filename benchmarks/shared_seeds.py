"""What would shared seeds save? The simulator as a service that honours a seed, and as one that ignores it.

`python -m benchmarks.shared_seeds`. An agent of one call is run on 400 seeds, and the seeds on which it passed are
kept. On these the agent is run again, and so are two mutants: one without a rule that the scenario does not judge, and
one whose judged rule is a weaker one. A service that honours seeds has the same luck in each run of a seed. One that
ignores them has new luck each time. From the measured rates the trials and errors of the kill rule follow exactly, with
100 runs of the original on kept seeds as its baseline. `live` is the rule of a campaign, without seeds.

The engine has no such design. No service promises that a seed is kept, and one that keeps it has other luck as soon as
the request differs. The simulator decides rule by rule, so its luck survives a change of another rule: what this prints
is an upper limit. Recorded replies (`execution.fork`) are the same luck, seen byte by byte.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import httpx

from agentmut.simulator import Simulator, read_settings
from agentmut.stats.kill.characteristics import OperatingCharacteristics, operating_characteristics
from agentmut.stats.kill.rule import DEFAULT_DESIGN, decision_table

SEEDS, BASELINE, MODEL = 400, 100, "sim-medium"
JUDGED, WEAKER = '- End every answer with "Take care!".', '- You should end every answer with "Take care!".'
IDLE = '- You may mention in every answer "the garden".'
PROMPTS = {"original": (JUDGED, IDLE), "idle": (JUDGED,), "weaker": (WEAKER, IDLE)}
table_of = cache(decision_table)


class Rates(NamedTuple):
    """How often runs fail on kept seeds."""

    again: float
    """The original."""
    idle: float
    """The mutant without the rule that is not judged."""
    weaker: float


def passed(client: httpx.Client, simulator: Simulator, rules: tuple[str, ...], luck: str) -> bool:
    """Run the agent once, with this luck."""
    said = [
        {"role": "system", "content": "\n".join(rules)},
        {"role": "user", "content": "Where is my parcel?"},
    ]
    url = simulator.of(luck).openai_base_url + "/chat/completions"
    reply = client.post(url, json={"model": MODEL, "messages": said}).raise_for_status()
    return "Take care!" in reply.json()["choices"][0]["message"]["content"]


def measured(luck_of: Callable[[int, str], str]) -> tuple[float, Rates]:
    """Return the pass rate of the original, and the rates on kept seeds. `luck_of`: of a seed in a run of that name."""
    with Simulator(read_settings(seed=5)) as simulator, httpx.Client(timeout=30) as client:

        def runs(name: str, seeds: list[int], run: str) -> list[int]:
            return [k for k in seeds if passed(client, simulator, PROMPTS[name], luck_of(k, run))]

        kept = runs("original", list(range(SEEDS)), "first")
        rates = (1 - len(runs(name, kept, name)) / len(kept) for name in PROMPTS)
        return len(kept) / SEEDS, Rates(*rates)


def row(name: str, original: float, idle: float, weaker: float) -> str:
    """Return a row of the table: failure rates of the original and both mutants, trials and kills."""

    def at(failing: float) -> OperatingCharacteristics:
        return operating_characteristics(
            BASELINE, DEFAULT_DESIGN, 1 - original, max(0.0, failing - original), table_of
        )

    one, other = at(idle), at(weaker)
    cells = f"{original:.3f} | {idle:.3f} | {one.trials:.1f} | {one.killed:.3f}"
    return f"| {name} | {cells} | {weaker:.3f} | {other.trials:.1f} | {other.killed:.3f} |"


def main() -> None:
    """Print the table."""
    print(
        "| luck | original fails | idle mutant: fails | trials | killed | weaker: fails | trials | killed |"
    )
    print(f"|{' --- |' * 8}")
    rate, ignored = measured(lambda seed, run: f"{run} {seed}")
    _, honoured = measured(lambda seed, _: str(seed))
    print(row(f"live (passes {rate:.3f})", 1 - rate, 1 - rate, ignored.weaker))
    print(row("seeds ignored", *ignored))
    print(row("seeds honoured", *honoured))


if __name__ == "__main__":
    main()
