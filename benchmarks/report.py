"""Times `agentmut report` of 5,000 mutants in every format, and how soon the HTML page is usable.

`python benchmarks/report.py` prints the figures next to their limits; exit code 1 where one is not kept. The page is
opened in Chromium, where that and Playwright are installed.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from agentmut.mutant import Intent, OperatorClass, Status  # noqa: E402
from agentmut.report.formats import Format  # noqa: E402
from agentmut.result import (  # noqa: E402
    AgentSummary,
    BaselineRow,
    Bounds,
    Controls,
    Cost,
    DecisionTable,
    DestroyedControl,
    Evidence,
    IdentityControl,
    MutantRow,
    PromptRule,
    Result,
    Score,
    SourceText,
    Target,
    TextChange,
    write_result,
)

MUTANTS, SCENARIOS, TRIED, RULES = 5_000, 40, 6, 300
WRITTEN, SIZE, USABLE = 3.0, 10.0, 2.0
"""Limits: seconds to write the page, its megabytes, seconds until it can be used."""
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
    return Result(
        agentmut_version="0",
        run_id="large",
        status="finished",
        seed=seed,
        agent=AgentSummary(adapter="python", digest="d" * 64),
        baseline=tuple(_baseline(number) for number in range(SCENARIOS)),
        controls=Controls(
            identity=IdentityControl(mutants=1, killed=0, trials=104),
            destroyed=DestroyedControl(status=Status.KILLED, trials=4),
        ),
        score=score,
        robustness=Score(value=None, low=None, high=None),
        classes={"prompt": score},
        operators={"prompt.drop_instruction": score, "prompt.negate": score},
        mutants=rows,
        cost=Cost(trials=400_000, baseline_trials=2_000, tokens=10**9, usd=1_234.5, seconds=7_200),
        rule={"alpha": 0.05, "beta": 0.1, "delta": 0.2, "n_max": 100.0, "baseline": 50.0},
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


def written(result: Path, page: Path, *options: str) -> float:
    """Seconds that the command takes, the start of Python included."""
    command = [
        sys.executable,
        "-c",
        "from agentmut.cli import main; main()",
        "report",
        str(result),
        "--output",
        str(page),
        *options,
    ]
    started = time.perf_counter()
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    return time.perf_counter() - started


def usable(page: Path, chromium: str) -> float:
    """Seconds from opening the page until it answers to its filters."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        tab = browser.new_page()
        tab.goto("about:blank")
        started = time.perf_counter()
        tab.goto(page.as_uri(), wait_until="commit")
        tab.wait_for_selector("html[data-ready]", state="attached")
        tab.fill("#filters [name=q]", "00000007")
        tab.get_by_text(f"1 of {MUTANTS:,} mutants").wait_for()
        taken = time.perf_counter() - started
        browser.close()
    return taken


def main() -> int:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        result = write_result(large_result(), Path(name))
        page = Path(name) / "report.html"
        seconds = min(written(result, page, "--format", "html") for _ in range(3))
        figures = [("written in", seconds, "s", WRITTEN), ("size", page.stat().st_size / 1e6, "MB", SIZE)]
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        try:
            figures += [("usable in Chromium after", usable(page, chromium), "s", USABLE)] if chromium else []
        except ImportError:
            chromium = None
        for what, value, unit, limit in figures:
            print(f"html report of {MUTANTS:,} mutants: {what} {value:.2f} {unit} (limit {limit:g})")
        if chromium is None:
            print("not opened in a browser: install Chromium, and Playwright with `pip install playwright`")
        others = other_formats(result, Path(name))
    return int(any(value > limit for _, value, _, limit in figures) or max(others) > WRITTEN)


def other_formats(result: Path, folder: Path) -> list[float]:
    """Seconds that each other format takes, and the comparison with another result; printed."""
    older = write_result(large_result(seed=2).model_copy(update={"run_id": "older"}), folder / "older")
    kinds: list[tuple[str, ...]] = [
        ("--format", format.value) for format in Format if format is not Format.HTML
    ]
    kinds.append(("--format", "markdown", "--compare", str(older)))
    taken = []
    for options in kinds:
        written_to = folder / "other"
        taken.append(min(written(result, written_to, *options) for _ in range(2)))
        said, size = " ".join(options).replace(str(older), "RUN"), written_to.stat().st_size / 1e6
        print(f"report of {MUTANTS:,} mutants, {said}: {taken[-1]:.2f} s (limit {WRITTEN:g}), {size:.2f} MB")
    return taken


if __name__ == "__main__":
    sys.exit(main())
