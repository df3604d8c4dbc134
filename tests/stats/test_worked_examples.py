"""The worked examples of the literature and of other tools, each by the function that a user would call.

`worked_examples.json` names the source of every value; `source_prints_another_value` marks those where it is
misprinted there and the right value stands here.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import mean
from types import MappingProxyType
from typing import Any

import pytest

from agentmut.nouns.trace import Outcome
from agentmut.stats.intervals.proportion import PROPORTION_INTERVALS, clopper_pearson
from agentmut.stats.reliability.durations import nearest_rank, sample_standard_deviation
from agentmut.stats.reliability.repeated_runs import (
    Estimator,
    graceful_degradation,
    pass_at_k,
    pass_hat_k,
    run_summary,
)
from agentmut.stats.score.coverage import overall_coverage, state_coverage
from agentmut.stats.score.mutation_score import paper_score
from agentmut.stats.sequential.sprt import SprtDesign
from agentmut.stats.sequential.sprt_characteristics import sprt_characteristics
from agentmut.stats.tests.multiplicity import Correction, adjust
from agentmut.stats.tests.paired import mcnemar_test
from agentmut.stats.tests.power import (
    half_width,
    least_passing_n,
    trials_for_half_width,
)
from agentmut.stats.tests.proportions import fisher_test
from agentmut.stats.tests.significance import Alternative
from agentmut.stats.three_valued import Verdict
from agentmut.stats.verdicts.scenario_verdict import fixed_verdict
from agentmut.stats.verdicts.trial_statistics import pass_rates
from benchmarks.calibration.exact_power import trials_one_sided, trials_two_sided
from benchmarks.calibration.intervals import coverage
from benchmarks.calibration.sprt import cerberus, wald_trials

EXAMPLES = json.loads(Path(__file__).with_name("worked_examples.json").read_text(encoding="utf-8"))
TWO_SIDED = Alternative.TWO_SIDED
PAPER = SprtDesign(0.9, 0.1, 0.05, 0.1, None, "wald")
DECISIONS = {
    Verdict.PASS: "accept",
    Verdict.FAIL: "reject",
    Verdict.INCONCLUSIVE: "inconclusive",
    None: "continue",
}
Inputs = Mapping[str, Any]


def ends(interval: Any) -> list[float]:
    return [interval.low, interval.high]


def intervals(given: Inputs) -> Any:
    # One source gives a rate: 0.72 of 439 are 316 passes.
    counts = given.get("k", round(given.get("p", 0.0) * given["n"])), given["n"]
    found = {name: make(*counts, given.get("conf", 0.95)) for name, make in PROPORTION_INTERVALS.items()}
    return {name.replace("-", "_"): ends(interval) for name, interval in found.items()}


def walk(given: Inputs) -> Any:
    design = cerberus(given["threshold"])
    shown = ((-design.log_ratio(n, 0), design.run([True] * n).verdict) for n in range(1, 15))
    return [[ratio, DECISIONS[verdict]] for ratio, verdict in shown]


def straight(given: Inputs) -> Any:
    design = cerberus(given["threshold"], given["confidence"])
    return {"passes_to_accept": design.run([True] * 100).n, "fails_to_reject": design.run([False] * 100).n}


def tie(given: Inputs) -> Any:
    design = cerberus(given["threshold"], given["confidence"])
    state = design.run(letter == "P" for letter in given["seq"])
    ratio = -design.log_ratio(state.n, state.failures)
    return {"stat": ratio, "lower": -design.upper, "decision": DECISIONS[state.verdict]}


def curve(design: SprtDesign, p: float) -> dict[str, float]:
    found = sprt_characteristics(design, p)
    return dict(zip(("accept", "reject", "inconclusive", "EN", "median_N"), found, strict=True))


def operating_characteristics(given: Inputs) -> Any:
    caps = {"cap50": 50, "uncapped": None}
    return {name: curve(cerberus(given["p0"], n_max=cap), given["p"]) for name, cap in caps.items()}


def corrections(given: Inputs) -> Any:
    found = {c: adjust(given["p"], given["alpha"], c) for c in Correction}
    return {
        "bh_reject": list(found[Correction.BENJAMINI_HOCHBERG].rejected),
        "bh_adjusted": list(found[Correction.BENJAMINI_HOCHBERG].p_values),
        "bonferroni": list(found[Correction.BONFERRONI].rejected),
        "holm": list(found[Correction.HOLM].rejected),
        "by": list(found[Correction.BENJAMINI_YEKUTIELI].rejected),
    }


def rates(given: Inputs) -> Any:
    counts = {
        Outcome.PASS: given["passes"],
        Outcome.FAIL: given["fails"],
        Outcome.TIMEOUT: given["timeout_with_tools"],
        Outcome.INFRASTRUCTURE: given["infrastructure"],
        Outcome.PRE_VALIDATION: given["pre_validation"],
        Outcome.EMPTY_RUN: given["empty_run"],
    }
    found = pass_rates(counts)
    return {
        "per_protocol": found.per_protocol.estimate,
        "intent_to_treat": found.intention_to_treat.estimate,
        "pp_denominator": found.per_protocol.n,
    }


def summary(given: Inputs) -> Any:
    if "outcomes" not in given:
        positions = range(1, given["N"] + 1)
        return {"graceful": graceful_degradation(p in given["passed_positions"] for p in positions)}
    letters = "PPPPPPPPPF" if given["outcomes"] == "9P1F" else given["outcomes"]
    found = run_summary(letter == "P" for letter in letters)
    return {
        "curve": list(found.curve),
        "variance_amplification": found.variance_amplification,
        "graceful": found.graceful_degradation,
        "pass_at_k": found.pass_at_k,
    }


def pass_k(given: Inputs) -> Any:
    c, n, k = given["c"], given["n"], given["k"]
    return {
        "pass_hat_k_unbiased": pass_hat_k(c, n, k),
        "pass_hat_k_plugin": pass_hat_k(c, n, k, Estimator.PLUG_IN),
        "pass_at_k_unbiased": pass_at_k(c, n, k),
    }


def trials(given: Inputs) -> Any:
    names = {"pass": Outcome.PASS, "fail": Outcome.FAIL, "error": Outcome.INFRASTRUCTURE}
    rates = pass_rates(Counter(names[status] for status in given["status"]))
    every, run = rates.intention_to_treat, rates.per_protocol
    assert every.estimate is not None
    passes = round(every.estimate * every.n)
    return {
        "trialCount": every.n,
        "passCount": passes,
        "failCount": run.n - passes,
        "errorCount": every.n - run.n,
        "passRate": every.estimate,
        "meanScore": mean(given["score"]),
        "scoreStdDev": sample_standard_deviation(given["score"]),
        "ci95": ends(every),
        "flaky": 0 < passes < run.n,
    }


def fisher(given: Inputs) -> float:
    (k1, n1), (k2, n2) = given["current"], given["baseline"]
    return fisher_test(k1, n1, k2, n2, TWO_SIDED).p_value


def equation_4(given: Inputs) -> Any:
    counts = given["k"], given["n"]
    found = fixed_verdict(*counts, given["theta"], given["alpha"], "wilson")
    wilson_ends = ends(found.interval)
    exact = ends(clopper_pearson(*counts, 1 - given["alpha"]))
    return {"verdict": found.verdict, "wilson": wilson_ends, "ci": wilson_ends, "clopper_pearson": exact}


def least_n(given: Inputs) -> Any:
    thetas = ("0.5", "0.8", "0.85", "0.9", "0.95", "0.98", "0.99")
    return {"min_allpass_n_for_PASS": {t: least_passing_n(float(t), given["alpha"]) for t in thetas}}


def exact_coverage(given: Inputs) -> Any:
    names = {"wald": "wald", "wilson": "wilson", "clopper_pearson": "clopper-pearson"}
    return {
        key: coverage(PROPORTION_INTERVALS[name], given["n"], given["p"], given["nominal"])
        for key, name in names.items()
    }


def eq_22(given: Inputs) -> Any:
    found = paper_score(given["mutants"], given["equivalent"], given["killed"])
    assert found is not None
    return {"MS": found.estimate, "wilson": ends(found)}


COMPUTED: Mapping[str, Callable[[Inputs], Any]] = MappingProxyType(
    {
        "interval of a proportion": intervals,
        "SPRT walk, log-likelihood ratio after each trial (article orientation: pass adds log(p0/p1))": walk,
        "SPRT, article preset: straight passes to accept, straight failures to reject": straight,
        "SPRT boundary tie": tie,
        "SPRT operating characteristics, exact": operating_characteristics,
        "SPRT truncated at cap: chance of each decision": lambda g: curve(
            cerberus(g["threshold"], n_max=g["cap"]), g["p"]
        ),
        "multiple-testing decisions": corrections,
        "McNemar exact two-sided p": lambda g: mcnemar_test(g["b"], g["c"], TWO_SIDED).p_value,
        "per-protocol and intention-to-treat rates": rates,
        "reliability summary (curve truncates, the others round half up)": summary,
        "runs for a half-width with the stated z": lambda g: trials_for_half_width(g["half_width"], z=g["z"]),
        "half-width for n runs at p = 0.5": lambda g: half_width(g["N"], z=1.96),
        "pass@k and pass^k": pass_k,
        "trial statistics": trials,
        "sample standard deviation": lambda g: {"stddev": sample_standard_deviation(g["score"])},
        "95th percentile, nearest rank": lambda g: nearest_rank(g["x"], 95),
        "Fisher exact two-sided p": fisher,
        "interval and verdict (Eq. 4, Wilson)": equation_4,
        "least all-pass n that can PASS (Eq. 4)": least_n,
        "n* of Eq. 1": lambda g: trials_two_sided(g["p"], g["delta"], alpha=g["alpha"], beta=g["beta"]),
        "n* of Eq. 6, per arm": lambda g: trials_one_sided(
            g["pb"], g["pc"], alpha=g["alpha"], beta=g["beta"]
        ),
        "E[N | H0] of the SPRT, Wald approximation": lambda g: (
            wald_trials(SprtDesign(g["theta"], g["delta"], g["alpha"], g["beta"], None, "wald")).at_threshold
        ),
        "E[N] of the SPRT: Wald approximation and exact": lambda g: {
            "wald_approx": wald_trials(PAPER).at_threshold,
            "exact": sprt_characteristics(PAPER, g["p"]).trials,
            "typeI": sprt_characteristics(PAPER, g["p"]).failed,
        },
        "state coverage": lambda g: state_coverage(g["states"], g["lam"]),
        "overall coverage, geometric mean": lambda g: overall_coverage(g["C"]),
        "mutation score, Eq. 22": eq_22,
        "exact coverage of 95 % intervals": exact_coverage,
    }
)
LEFT_OUT = MappingProxyType(
    {
        "blog.clean10": "p to the power of n, which no command asks for",
        "blog.any_fail_20": "1 - p to the power of n, which no command asks for",
        "paper.eq39.never_worse": "Eq. 39 guarantees no power, and no command plans with it",
        "paper.eq40": "Eq. 39 guarantees no power, and no command plans with it",
        "paper.eq48": "no command takes results of a cheaper model into account",
        "paper.eq41": "no command estimates a variance",
        "paper.eq30_vs_39": "no command plans the number of traces",
        "paper.eq11.45.40.0.05": "Eq. 11 keeps no error rate, and no command decides by it",
        "paper.eq11.90.80.0.05": "Eq. 11 keeps no error rate, and no command decides by it",
    }
)
"""Collected examples of functions that this project does not have, each with the reason."""
ROUNDED = MappingProxyType(
    {
        "blog.beta_claim": 5e-5,
        "coverage.50.0.98": 5e-5,
        "coverage.100.0.98": 5e-5,
        "paper.eq9": 5e-4,
        "paper.ex3_2.EN0": 0.05,
        "aek.stats.mixed": 5e-6,
        "guide.report_format": 5e-5,
    }
)
"""Examples whose stated digits are fewer than their tolerance: half a unit of the last one. agent-eval-kit takes
1.96 for the quantile."""


def agrees(found: Any, expected: Any, tolerance: float) -> None:
    if isinstance(expected, dict):
        for key in expected.keys() - {"raw"}:  # an intermediate value that no function gives
            agrees(found[key], expected[key], tolerance)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            agrees(one, other, tolerance)
    elif isinstance(expected, bool | str):
        assert found == expected
    else:
        assert math.isclose(found, expected, rel_tol=0, abs_tol=tolerance), (found, expected)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["id"])
def test_a_worked_example_comes_out(example: dict[str, Any]) -> None:
    found = COMPUTED[example["quantity"]](example["inputs"])
    agrees(found, example["expected"], ROUNDED.get(example["id"], example["tol"]))


def test_there_are_as_many_as_were_collected() -> None:
    assert len(EXAMPLES) == 101
    assert {example["quantity"] for example in EXAMPLES} == set(COMPUTED)


GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "statistics.json"


@pytest.mark.skipif(not GOLDEN.exists(), reason="the collection is not on this machine")
def test_the_table_is_the_collection() -> None:
    collected = {
        e["id"]: (e["inputs"], e["expected"], e["tol"])
        for e in json.loads(GOLDEN.read_text())["examples"]
        if e["id"] not in LEFT_OUT
    }
    assert {e["id"]: (e["inputs"], e["expected"], e["tol"]) for e in EXAMPLES} == collected
