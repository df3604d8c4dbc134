"""A result as a big campaign writes it, for the browser and for the benchmark of reports."""

import random
from collections.abc import Iterator

from agentmut.nouns.mutant import Intent, OperatorClass, Status
from agentmut.nouns.mutant_row import Evidence, MutantRow, Target, TextChange
from agentmut.nouns.result import BaselineRow, Cost, DecisionTable, PromptRule, Result, SourceText
from agentmut.nouns.result_figures import Bounds, Score
from tests.report.results import result

MUTANTS, SCENARIOS, TRIED, RULES = 5_000, 40, 6, 300
WORDS = (
    "customer", "order", "refund", "escalate", "identity", "never", "always", "verify", "before", "after", "shipping",
    "label", "policy", "human",
)  # fmt: skip
STATUSES = (Status.KILLED, Status.KILLED, Status.SURVIVED, Status.NO_COVERAGE, Status.UNDECIDED)


def large_result(mutants: int = MUTANTS, seed: int = 1) -> Result:
    """A result as a big campaign writes it: a prompt of 300 rules, 40 scenarios, six of them tried by each mutant."""
    rng = random.Random(seed)
    rules = [f"- {' '.join(rng.choices(WORDS, k=14)).capitalize()}.\n" for _ in range(RULES)]
    starts = [sum(map(len, rules[:i])) for i in range(RULES)]
    rows = tuple(_row(number, rng, rules, starts) for number in range(mutants))
    killed = sum(row.status is Status.KILLED for row in rows)
    score = Score(value=killed / max(1, mutants), low=0.3, high=0.5, killed=killed, survived=mutants // 5)
    return result(
        *rows,
        run_id="large",
        seed=seed,
        baseline=tuple(_baseline(number) for number in range(SCENARIOS)),
        score=score,
        classes={"prompt": score},
        operators={"prompt.drop_instruction": score, "prompt.negate": score},
        cost=Cost(trials=400_000, baseline_trials=2_000, tokens=10**9, usd=1_234.5, seconds=7_200),
        sources=(
            SourceText(path="prompt.md", line=1, text="".join(rules), rules=tuple(_rules(rules, starts))),
        ),
        decision_tables=(_table(),),
    )


def _rules(rules: list[str], starts: list[int]) -> Iterator[PromptRule]:
    for number, (rule, start) in enumerate(zip(rules, starts, strict=True)):
        touching = tuple(f"{mutant:08x}" for mutant in range(number, MUTANTS, RULES))
        yield PromptRule(start=start + 2, end=start + len(rule) - 1, line=number + 1, mutants=touching)


def _row(number: int, rng: random.Random, rules: list[str], starts: list[int]) -> MutantRow:
    at, whole = number % RULES, number % 2 == 0
    status = rng.choice(STATUSES)
    end = starts[at] + len(rules[at])
    after = "" if whole else rules[at].replace(" ", " not ", 1)
    tried = rng.sample(range(SCENARIOS), TRIED)
    evidence = tuple(_evidence(scenario, status, rng) for scenario in tried)
    return MutantRow(
        id=f"{number:08x}",
        operator="prompt.drop_instruction" if whole else "prompt.negate",
        operator_class=OperatorClass.PROMPT,
        intent=Intent.DEGRADE,
        status=status,
        target=Target(path="prompt.md", line=at + 1, column=1),
        before=rules[at],
        after=after,
        changes=(TextChange(text=0, start=starts[at], end=end, after=after),),
        description=f"change rule {at + 1}",
        killed_by=(f"scenario_{tried[0]}",) if status is Status.KILLED else (),
        gap="unknown" if status is Status.SURVIVED else None,
        evidence=() if status is Status.NO_COVERAGE else evidence,
        trials=sum(item.trials for item in evidence),
        usd=0.8,
    )


def _evidence(scenario: int, status: Status, rng: random.Random) -> Evidence:
    chance = 0.5 if status is Status.KILLED else 0.05
    outcomes = "".join("1" if rng.random() < chance else "0" for _ in range(rng.randint(4, 24)))
    return Evidence(
        scenario=f"scenario_{scenario}",
        trials=len(outcomes),
        failures=outcomes.count("1"),
        decision={Status.KILLED: "killed", Status.SURVIVED: "survived"}.get(status, "continue"),
        failure=f"expected a call of 'refund'; called: {' '.join(rng.choices(WORDS, k=12))}",
        outcomes=outcomes,
        table=0,
    )


def _baseline(number: int) -> BaselineRow:
    bounds = Bounds(estimate=0.96, low=0.87, high=0.99, level=0.95, n=50, method="wilson")
    name = f"scenario_{number}"
    return BaselineRow(
        scenario=name, trials=50, passes=48, rate=0.96, interval=bounds, threshold=0.8, testable=True
    )


def _table() -> DecisionTable:
    looks = range(25)
    return DecisionTable(
        f0=2,
        n0=50,
        alpha=0.005,
        kill_at=tuple(3 + n // 6 for n in looks),
        survive_at=tuple(-1 if n < 11 else (n - 11) // 12 for n in looks),
        log_evidence=tuple(tuple(round(1.8 * f - 0.3 * n, 3) for f in range(6)) for n in looks),
    )
