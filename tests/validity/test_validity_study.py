"""The study of validity on coins: a score that tells is told from one that does not, sizes and levels by hand."""

import numpy as np
import pytest

from benchmarks.validity.agents import Study, frozen_digest
from benchmarks.validity.collect import Collected, Variant
from benchmarks.validity.figures import correlation, partial
from benchmarks.validity.suites import drawn, faults, measure, mutants, noticed, p_value

SCENARIOS, RUNS = 12, 8


def a_variant(name: str, split: str, broken: set[int]) -> Variant:
    """Fail the second check of the broken scenarios always."""
    held = {f"s{i}": np.ones((RUNS, 2), dtype=bool) for i in range(SCENARIOS)}
    for i in broken:
        held[f"s{i}"][:, 1] = False
    return Variant(name, "tool", split, held)


def an_agent(seed: int, *, related: bool) -> Collected:
    """Return mutants and faults that break the same scenarios, or (not related) other halves of the pool."""
    rng = np.random.default_rng(seed)
    half = SCENARIOS // 2
    places = [set(rng.integers(0, half, 2).tolist()) for _ in range(40)]
    moved = [{i + (0 if related else half) for i in rng.permutation(half)[:2].tolist()} for _ in range(20)]
    variants = [a_variant(f"m{i}", "mutant", each) for i, each in enumerate(places)]
    variants += [a_variant(f"f{i}", "test", each) for i, each in enumerate(moved)]
    original = {f"s{i}": np.ones((3 * RUNS, 2), dtype=bool) for i in range(SCENARIOS)}
    return Collected("coins", original, {name: frozenset() for name in original}, variants, [])


def test_the_p_value_is_that_of_fisher() -> None:
    assert p_value(3, 10, 0, 30) == pytest.approx(120 / 9880)  # C(10, 3) / C(40, 3)
    assert p_value(0, 10, 0, 30) == 1.0


def test_a_variant_is_noticed_by_the_check_it_breaks_and_by_no_other() -> None:
    found = an_agent(1, related=True)
    broken = a_variant("x", "mutant", {3})
    assert noticed(found.original, broken, {"s3": np.array([1])})
    assert not noticed(found.original, broken, {"s3": np.array([0]), "s4": np.array([0, 1])})
    assert not noticed(found.original, broken._replace(held={}), {"s3": np.array([1])})


def test_a_score_tells_faults_of_the_same_places_and_none_of_others() -> None:
    for related, low, high in ((True, 0.6, 1.0), (False, -0.9, 0.2)):
        found = an_agent(2, related=related)
        suites = drawn(found, "equal size", 120, 1)
        rho = correlation(suites, mutants(found), faults(found, "test"), np.random.default_rng(1))
        assert low <= rho.rho <= high
        assert rho.low <= rho.rho <= rho.high


def test_sizes_are_held_constant() -> None:
    rng = np.random.default_rng(3)
    size = rng.normal(size=(400, 1))
    x, y = (size[:, 0] * 2 + rng.normal(size=400) for _ in range(2))
    assert abs(partial(x, y, size)) < 0.12  # related by size alone
    assert partial(x, x + rng.normal(size=400) / 10, size) > 0.9


def test_suites_of_one_design_have_one_size() -> None:
    sizes = {
        (suite.scenarios, suite.checks) for suite in drawn(an_agent(4, related=True), "equal size", 30, 1)
    }
    assert sizes == {(6, 9)}


def test_every_fault_fits_the_files_of_its_agent(tmp_path_factory: pytest.TempPathFactory) -> None:
    study = Study.read()
    for agent in study.agents:
        for fault in study.of(agent):
            project = agent.write(tmp_path_factory.mktemp("patched"))
            for patch in fault.patches:
                patch.apply(project.parent)  # raises where the text is not there once
    assert {fault.split for fault in study.faults} == {"development", "test"}


def test_the_test_faults_are_those_that_were_frozen() -> None:
    assert frozen_digest(Study.read().faults) == "ce8b67cfe9396670"


def test_a_suite_with_everything_measures_the_pool() -> None:
    found = an_agent(5, related=True)
    suite = measure(found, {"s0": np.array([0, 1])})
    assert (suite.scenarios, suite.checks) == (1, 2)
