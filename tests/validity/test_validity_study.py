"""The study of validity on coins: a score that tells is told from one that does not, sizes and levels by hand."""

import numpy as np
import pytest

from benchmarks.validity.agents import HERE, Study, frozen_digest
from benchmarks.validity.collect import Collected, Variant
from benchmarks.validity.figures import correlation, partial
from benchmarks.validity.pooled import Predicted, calibration, mean_weights, over_agents, predictions
from benchmarks.validity.reliability import Reliability, needed, reliability
from benchmarks.validity.suites import Measured, drawn, faults, measure, mutants, noticed, p_value

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


def test_the_interval_over_agents_is_that_of_a_mean() -> None:
    found = over_agents([0.2, 0.4, 0.6, float("nan")])
    # a mean's jackknife error is s / sqrt(n) = 0.2 / sqrt(3); Student's t with two degrees of freedom: 4.3027
    assert found.rho == pytest.approx(0.4)
    assert found.high == pytest.approx(0.4 + 4.3027 * 0.2 / 3**0.5, abs=1e-4)
    assert found.low == pytest.approx(0.4 - 4.3027 * 0.2 / 3**0.5, abs=1e-4)


def test_weights_of_others_are_means_over_agents_that_have_the_class() -> None:
    assert mean_weights([{"tool": 1.0, "prompt": 0.5}, {"tool": 0.5}]) == {"prompt": 0.5, "tool": 0.75}


def test_a_prediction_learns_from_other_agents_alone() -> None:
    agents = [an_agent(seed, related=True) for seed in (5, 6, 7)]
    agents = [one._replace(variants=[*one.variants, *_as_development(one)]) for one in agents]
    suites = [drawn(one, "any size", 60, 1) for one in agents]
    told = predictions(agents, suites)
    assert all(one.median_error < 0.15 for one in told)
    own = [v._replace(split="none") if v.split == "development" else v for v in agents[0].variants]
    own[-1] = own[-1]._replace(split="development")  # one of its own is left, and tells nothing about it
    again = predictions([agents[0]._replace(variants=own), *agents[1:]], suites)
    assert again[0].guess == pytest.approx(told[0].guess)


def _as_development(found: Collected) -> list[Variant]:
    return [one._replace(split="development") for one in found.variants if one.split == "test"]


def test_predicted_shares_are_put_into_bins() -> None:
    told = [
        Predicted("a", np.array([0.1, 0.5, 1.0]), np.array([0.2, 0.6, 0.9]), np.array([0.4, 0.4, 0.4]), 0.5)
    ]
    bins = {low: list(found) for low, _, found in calibration(told)}
    assert bins == {0.0: [0.2], 0.2: [], 0.4: [0.6], 0.6: [], 0.8: [0.9]}
    assert told[0].median_error == pytest.approx(0.1)
    assert told[0].size_error == pytest.approx(0.2)
    assert told[0].plain_error == pytest.approx(0.3)


def test_the_table_shares_no_code_with_the_simulator_nor_the_operators() -> None:
    folder = HERE / "table_desk" / "table_desk"
    imports = {
        line.split()[1].split(".")[0] + "." + line.split()[1].partition(".")[2]
        for path in folder.glob("*.py")
        for line in path.read_text().splitlines()
        if line.startswith(("import ", "from "))
    }
    assert imports.isdisjoint({"agentmut.simulator", "operators."})
    assert {each for each in imports if each.startswith("agentmut")} == {"agentmut."}


def test_every_fault_fits_the_files_of_its_agent(tmp_path_factory: pytest.TempPathFactory) -> None:
    study = Study.read()
    for agent in study.agents:
        for fault in study.of(agent):
            project = agent.write(tmp_path_factory.mktemp("patched"))
            for patch in fault.patches:
                patch.apply(project.parent)  # raises where the text is not there once
    assert {fault.split for fault in study.faults} == {"development", "test"}


def test_the_test_faults_are_those_that_were_frozen() -> None:
    assert frozen_digest(Study.read().faults) == "44a3a4991d00c288"


def test_a_suite_with_everything_measures_the_pool() -> None:
    found = an_agent(5, related=True)
    suite = measure(found, {"s0": np.array([0, 1])})
    assert (suite.scenarios, suite.checks) == (1, 2)


def a_draw(mutants_of: int, faults_of: int) -> list[Measured]:
    """Return sub-suites of one size that notice each variant by a chance of their own, between .2 and .8."""
    rng = np.random.default_rng(8)
    chances = rng.uniform(0.2, 0.8, 1500)
    return [Measured(6, 9, 1.0, rng.random(mutants_of + faults_of) < chance) for chance in chances]


def test_reliability_and_the_correction_are_those_of_the_formulas() -> None:
    """A chance p of variance .6^2 / 12 = .03, and a mean of p (1 - p) = .22, make .03 / (.03 + .22 / n)."""
    suites, rng = a_draw(60, 20), np.random.default_rng(1)
    score, found = (reliability(suites, np.arange(*ends), rng) for ends in ((0, 60), (60, 80)))
    assert score == pytest.approx(0.03 / (0.03 + 0.22 / 60), abs=0.02)
    assert found == pytest.approx(0.03 / (0.03 + 0.22 / 20), abs=0.03)
    told = [np.array([suite.noticed[part].mean() for suite in suites]) for part in (slice(60), slice(60, 80))]
    one = Reliability(partial(told[0], told[1], np.ones((len(suites), 1))), score, found)
    # both tell the same chance: noise alone is in the way
    assert one.rho == pytest.approx(one.ceiling, abs=0.04)
    assert one.corrected == pytest.approx(1.0, abs=0.05)
    assert np.isnan(one._replace(found=0.0).corrected)


def test_what_only_chance_tells_has_no_reliability() -> None:
    rng = np.random.default_rng(9)
    suites = [Measured(6, 9, 1.0, rng.random(40) < 0.5) for _ in range(400)]
    assert reliability(suites, np.arange(40), rng) < 0.1
    assert needed(60, 0.0) == np.inf


def test_a_part_of_the_study_has_its_agents_and_their_faults_alone() -> None:
    study = Study.read()
    part = study.only(["table"])
    assert [agent.name for agent in part.agents] == ["table"]
    assert part.faults == [*study.of(part.agents[0])]
    with pytest.raises(ValueError, match="no agent tabel"):
        study.only(["tabel"])
