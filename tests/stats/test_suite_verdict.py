import subprocess
import sys
from collections.abc import Iterable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.stats.intervals.proportion import wilson
from agentmut.stats.kill.rule import (
    DEFAULT_DESIGN,
    Decision,
    KillDesign,
    StoppedTrials,
    decision_table,
    level_for,
)
from agentmut.stats.tests.multiplicity import Correction
from agentmut.stats.three_valued import Judgement, Verdict
from agentmut.stats.verdicts.kill_verdict import judge_stopped
from agentmut.stats.verdicts.scenario_verdict import fixed_verdict
from agentmut.stats.verdicts.suite_verdict import suite_verdict

PASS, FAIL, OPEN = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE


def _judged(verdict: Verdict, p_fail: float, needed: int | None = None) -> Judgement:
    return Judgement(verdict, "because", p_fail, wilson(9, 10), 10, needed, "a method")


def test_one_failure_that_stands_fails_the_suite() -> None:
    found = suite_verdict({"a": _judged(PASS, 1.0), "b": _judged(FAIL, 0.001), "c": _judged(OPEN, 0.4, 7)})
    assert (found.verdict, found.needed) == (FAIL, None)
    assert (
        str(found) == "FAIL: 1 of 3 fail: b (Holm over the 3 scenarios of the suite: 1 significant at 0.05)"
    )
    assert found.p_values == pytest.approx({"a": 1.0, "b": 0.003, "c": 0.8})


def test_a_failure_that_the_correction_does_not_leave_standing_is_inconclusive_and_says_so() -> None:
    found = suite_verdict({"a": _judged(PASS, 1.0), "b": _judged(FAIL, 0.03)})
    assert found.verdict is OPEN
    assert found.scenarios["b"].verdict is OPEN
    assert found.scenarios["b"].reason == (
        "FAIL does not survive the correction: adjusted p = 0.06 > 0.05 (Holm); on its own: because"
    )
    assert found.scenarios["a"] == _judged(PASS, 1.0)
    assert found.needed is None


def test_a_weaker_correction_can_leave_it_standing() -> None:
    judged = {"a": _judged(FAIL, 0.03), "b": _judged(FAIL, 0.04)}
    assert suite_verdict(judged).verdict is OPEN
    found = suite_verdict(judged, correction=Correction.BENJAMINI_HOCHBERG)
    assert (found.verdict, found.scenarios) == (FAIL, judged)


def test_a_scenario_judged_at_a_lower_level_can_fail_at_that_of_the_suite() -> None:
    found = suite_verdict({"a": _judged(OPEN, 0.02, 30), "b": _judged(PASS, 0.9)})
    assert found.verdict is FAIL
    assert found.scenarios["a"].needed is None
    assert found.scenarios["a"].reason.startswith(
        "worse at the level of the suite: adjusted p = 0.04 <= 0.05"
    )


def test_only_if_all_pass_does_the_suite_pass() -> None:
    assert suite_verdict({"a": _judged(PASS, 1.0), "b": _judged(PASS, 0.2)}).verdict is PASS
    found = suite_verdict({"a": _judged(PASS, 1.0), "b": _judged(OPEN, 0.2, 12), "c": _judged(OPEN, 0.9, 5)})
    assert (found.verdict, found.needed) == (OPEN, 17)
    assert found.reason == "none fails, 2 of 3 open: b, c"


def test_open_scenarios_that_do_not_know_what_they_need_leave_the_total_unknown() -> None:
    assert suite_verdict({"a": _judged(OPEN, 0.3), "b": _judged(OPEN, 0.2, 12)}).needed is None


def test_a_suite_of_one_scenario_is_that_scenario() -> None:
    assert suite_verdict({"a": _judged(FAIL, 0.05)}).verdict is FAIL


def test_an_empty_suite_and_a_p_value_that_is_none_are_refused() -> None:
    with pytest.raises(ValueError, match="judgements must hold at least one scenario, got none"):
        suite_verdict({})
    with pytest.raises(ValueError, match=r"a p-value must be in \[0, 1\], got nan"):
        suite_verdict({"a": _judged(OPEN, float("nan"))})


def kill_rule_verdict(
    f0: int, n0: int, failures: Iterable[bool], design: KillDesign = DEFAULT_DESIGN
) -> Judgement:
    """The verdict on a candidate's trials, up to the first decision."""
    table = decision_table(f0, n0, design)
    return judge_stopped(table, table.verdict(failures))


def test_the_kill_rule_kills_at_the_third_failure_and_reads_no_further() -> None:
    trials = iter([True, True, True, False])
    found = kill_rule_verdict(10, 100, trials)
    assert (found.verdict, found.p_fail, found.n, found.needed) == (FAIL, 0.05, 3, None)
    assert found.reason == "worse at alpha = 0.05: 3/3 failed against 10/100 of the baseline"
    assert next(trials) is False


def test_the_kill_rule_passes_after_ten_trials_without_a_failure() -> None:
    found = kill_rule_verdict(10, 100, [False] * 20)
    assert (found.verdict, found.p_fail, found.n) == (PASS, 1.0, 10)
    assert found.reason.startswith("a drop of 0.2 is ruled out at beta = 0.1: 0/10")
    assert found.interval.method == "newcombe, descriptive after early stopping"
    assert found.interval.estimate == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("f0", "trials", "reason"),
    [
        (10, [False, True], "not enough trials yet: 1/2 failed"),
        (10, [], "not enough trials yet: 0/0 failed"),
        (90, [True], "the baseline fails too often for a drop of 0.2 to be seen: 0/0"),
    ],
)
def test_anything_else_is_inconclusive_with_its_reason(f0: int, trials: list[bool], reason: str) -> None:
    found = kill_rule_verdict(f0, 100, trials)
    assert (found.verdict, found.p_fail) == (OPEN, 1.0)
    assert found.reason.startswith(reason)


def test_an_undecided_candidate_needs_nothing_that_could_be_run() -> None:
    found = judge_stopped(decision_table(10, 100), StoppedTrials(Decision.UNDECIDED, 100, 20))
    assert (found.verdict, found.needed, found.n) == (OPEN, None, 100)
    assert found.reason == "100 trials were not enough: 20/100 failed against 10/100 of the baseline"


def test_what_the_kill_rule_still_needs_by_hand() -> None:
    # KILLED at f >= 3 of 3: after two failures of two, the candidate surely fails once more
    assert kill_rule_verdict(10, 100, [True, True]).needed == 1
    # SURVIVED at 0 of 10: a candidate without a failure in 8 surely passes twice more
    assert kill_rule_verdict(10, 100, [False] * 8).needed == 2


def test_without_a_chance_of_a_decision_before_n_max_nothing_is_needed() -> None:
    assert kill_rule_verdict(10, 100, [False, True], KillDesign(n_max=5)).needed is None


@pytest.mark.parametrize("m", [1, 3, 10, 37])
@pytest.mark.parametrize("correction", [Correction.HOLM, Correction.BONFERRONI])
def test_one_kill_at_the_level_of_its_share_fails_a_suite(m: int, correction: Correction) -> None:
    design = KillDesign(alpha=level_for(m))
    killed = kill_rule_verdict(10, 100, [True] * 50, design)
    suite = {f"s{j}": _judged(PASS, 1.0) for j in range(1, m)} | {"s0": killed}
    assert suite_verdict(suite, correction=correction).verdict is FAIL


def test_a_kill_at_the_full_level_does_not_fail_a_suite_of_two() -> None:
    suite = {"a": kill_rule_verdict(10, 100, [True] * 3), "b": _judged(PASS, 1.0)}
    assert suite_verdict(suite).verdict is OPEN


@pytest.mark.process
def test_verdicts_and_corrections_are_imported_without_numpy() -> None:
    names = (
        "tests.multiplicity",
        "verdicts.regression",
        "tests.noninferiority",
        "verdicts.suite_verdict",
        "verdicts.kill_verdict",
    )
    imports = "; ".join(f"import agentmut.stats.{name}" for name in names)
    check = f"import sys; {imports}; sys.exit(any(m in sys.modules for m in ('numpy', 'scipy')))"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_a_suite_of_one_decides_an_exact_tie_as_the_scenario_does() -> None:
    # 2 P(X <= 0) = 2/32 = .0625 = alpha: the interval ends on the threshold, which is no FAIL
    own = fixed_verdict(0, 5, 0.5, 0.0625)
    assert own.verdict is Verdict.INCONCLUSIVE
    assert suite_verdict({"one": own}, 0.0625).verdict is Verdict.INCONCLUSIVE


def test_a_tie_at_the_level_of_a_share_is_inconclusive_in_the_suite_too() -> None:
    own, passing = fixed_verdict(0, 5, 0.5, 0.0625), fixed_verdict(50, 50, 0.5)
    assert suite_verdict({"one": own, "two": passing}, 0.125).verdict is Verdict.INCONCLUSIVE


judged = st.builds(_judged, st.sampled_from([PASS, OPEN]), st.floats(0.06, 1)) | st.builds(
    _judged, st.just(FAIL), st.floats(0, 0.05)
)
suites = st.lists(judged, min_size=1, max_size=6).map(lambda js: {f"s{i}": j for i, j in enumerate(js)})


@settings(max_examples=60, deadline=None)
@given(suites, st.randoms(use_true_random=False), st.sampled_from([Correction.HOLM, Correction.BONFERRONI]))
def test_the_order_of_scenarios_does_not_matter(
    suite: dict[str, Judgement], random: Random, correction: Correction
) -> None:
    names = list(suite)
    random.shuffle(names)
    one, other = (
        suite_verdict(suite, 0.05, correction),
        suite_verdict({n: suite[n] for n in names}, 0.05, correction),
    )
    assert (one.verdict, one.scenarios, one.p_values) == (other.verdict, other.scenarios, other.p_values)


@settings(max_examples=60, deadline=None)
@given(suites, judged)
def test_another_scenario_never_makes_an_open_suite_pass(
    suite: dict[str, Judgement], more: Judgement
) -> None:
    before, after = suite_verdict(suite).verdict, suite_verdict({**suite, "more": more}).verdict
    assert after is not PASS or before is PASS
