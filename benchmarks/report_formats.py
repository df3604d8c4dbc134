"""How long each format of `agentmut report` takes for 5,000 mutants. Prints each figure next to its target.

`python benchmarks/report_formats.py [MUTANTS]`
"""

import random
import sys
import time

from agentmut.comparison import compare_results
from agentmut.mutant import Intent, OperatorClass, Status
from agentmut.report.comparison import markdown_comparison, render_comparison
from agentmut.report.formats import Format, render_as
from agentmut.result import (
    AgentSummary,
    Controls,
    Cost,
    DestroyedControl,
    Evidence,
    IdentityControl,
    MutantRow,
    Result,
    Score,
    SourceText,
    Target,
    TextChange,
)

MUTANTS = 5_000
SECONDS = 3.0
"""Target of each format."""
_RULES = 300
_STATUSES = (Status.KILLED, Status.KILLED, Status.SURVIVED, Status.NO_COVERAGE, Status.UNDECIDED)
_WORDS = (
    "customer",
    "order",
    "refund",
    "escalate",
    "identity",
    "never",
    "always",
    "verify",
    "before",
    "label",
)


def large_result(mutants: int = MUTANTS, seed: int = 1) -> Result:
    """Mutants of a prompt of 300 rules, each tried on six scenarios."""
    rng = random.Random(seed)
    rules = [f"- Rule {number}: {' '.join(rng.choices(_WORDS, k=14))}.\n" for number in range(_RULES)]
    rows = tuple(_row(number, rules, rng) for number in range(mutants))
    score = Score(value=0.5, low=0.4, high=0.6, killed=mutants // 2, survived=mutants // 2)
    return Result(
        agentmut_version="0",
        run_id=f"large-{seed}",
        status="finished",
        seed=seed,
        agent=AgentSummary(adapter="python", digest="d" * 64),
        baseline=(),
        controls=Controls(
            identity=IdentityControl(mutants=1, killed=0), destroyed=DestroyedControl(status=Status.KILLED)
        ),
        score=score,
        robustness=score,
        classes={"prompt": score},
        operators={"prompt.negate": score},
        mutants=rows,
        cost=Cost(trials=400_000, baseline_trials=2_000, tokens=10**9, usd=1_234.5, seconds=7_200),
        sources=(SourceText(path="prompt.md", line=1, text="".join(rules)),),
    )


def _row(number: int, rules: list[str], rng: random.Random) -> MutantRow:
    at = number % _RULES
    start = sum(map(len, rules[:at]))
    status = rng.choice(_STATUSES)
    tried = [f"scenario {each}" for each in rng.sample(range(40), 6)]
    return MutantRow(
        id=f"{number:08x}",
        operator="prompt.negate" if number % 2 else "prompt.drop_instruction",
        operator_class=OperatorClass.PROMPT,
        intent=Intent.DEGRADE,
        status=status,
        target=Target(path="prompt.md", line=at + 1, column=1),
        before=rules[at],
        after=rules[at].replace("Rule", "No rule") if number % 2 else "",
        changes=(TextChange(text=0, start=start, end=start + len(rules[at]), after=""),),
        description=f"change rule {at}",
        killed_by=(tried[0],) if status is Status.KILLED else (),
        evidence=tuple(
            Evidence(scenario=name, trials=20, failures=3, decision=str(status)) for name in tried
        ),
        trials=120,
    )


def main(mutants: int) -> int:
    """Print each figure; 1 if one misses its target."""
    result = large_result(mutants)
    print(f"agentmut report of {mutants:,} mutants, as")
    missed = 0
    for format in Format:
        started = time.perf_counter()
        size = len(render_as(result, format).encode())
        missed += _shown(f"{format}, {size / 1e6:.2f} MB", time.perf_counter() - started)
    other = large_result(mutants, seed=2)
    started = time.perf_counter()
    found = compare_results(other, result)
    render_comparison(found)
    markdown_comparison(found)
    return int(missed + _shown("--compare, terminal and markdown", time.perf_counter() - started) > 0)


def _shown(what: str, seconds: float) -> bool:
    print(f"  {what}: {seconds:.2f} s (target: at most {SECONDS:g} s)")
    return seconds > SECONDS


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else MUTANTS))
