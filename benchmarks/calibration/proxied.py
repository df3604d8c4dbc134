"""A cheap model beside the dear one: whether the bounds hold, and how many of the dear model's mutants are saved."""

from typing import NamedTuple

import numpy as np

from agentmut.stats import Pairs, proxied, proxied_bounds
from benchmarks.calibration.figures import Figure, Section, simulated_rate

ERROR = 0.05
NONE = np.zeros(1)


class Case(NamedTuple):
    """So many mutants, those that the dear model decides too, the shares that each model kills, and rho."""

    mutants: int
    drawn: int
    dear: float
    cheap: float
    rho: float

    def __str__(self) -> str:
        return f"{self.drawn} of {self.mutants} mutants, kills {self.dear:g} and {self.cheap:g}, rho {self.rho:g}"

    @property
    def chances(self) -> np.ndarray:
        """Return the chances of a mutant to be killed by both models, the cheap one, the dear one, and neither."""
        p, q = self.dear, self.cheap
        both = p * q + self.rho * (p * (1 - p) * q * (1 - q)) ** 0.5
        found: np.ndarray = np.maximum([both, q - both, p - both, 1 - p - q + both], 0.0)
        return found

    @property
    def saved(self) -> float:
        """Return the saving by the formula: 1 - n/m with 1/m - 1/N = (1 - rho^2) (1/n - 1/N)."""
        n, whole = self.drawn, self.mutants
        return 1 - n * ((1 - self.rho**2) * (1 / n - 1 / whole) + 1 / whole)


SAVING = tuple(Case(300, 60, 0.5, 0.5, rho) for rho in (0.0, 0.3, 0.5, 0.7, 0.9))
FURTHER = (
    Case(300, 60, 0.9, 0.9, 0.7),
    Case(300, 60, 0.2, 0.1, 0.5),
    Case(300, 30, 0.6, 0.5, 0.5),
    Case(100, 30, 0.5, 0.5, 0.9),
    Case(100, 30, 0.95, 0.9, 0.5),
    Case(40, 12, 0.5, 0.5, 0.7),
)


def section(*, thorough: bool) -> Section:
    """Coverage and saving for each case."""
    campaigns = 3000 if thorough else 150
    figures = [
        figure for case in (*SAVING, *FURTHER) for figure in _figures(case, campaigns, told=case in SAVING)
    ]
    how = (
        f"{campaigns} campaigns of each case: every mutant is killed by both models, one, or neither with the chances "
        "that the case gives, and a random part is decided by the dear model, too. The bounds have to hold the share "
        "of these mutants that the dear model would kill (verdicts are taken for true here). Saved are mutants of the "
        "dear model: 1 - n/m, where m drawn mutants without the cheap model have the same mean squared error as n with "
        "it. Seed 1."
    )
    return Section("A cheap model beside the dear one", how, tuple(figures))


def _figures(case: Case, campaigns: int, *, told: bool) -> list[Figure]:
    rng = np.random.default_rng([1, case.mutants, case.drawn, round(100 * case.rho)])
    holds, errors, plain = [], [], []
    for whole in rng.multinomial(case.mutants, case.chances / case.chances.sum(), campaigns):
        drawn = rng.multivariate_hypergeometric(whole, case.drawn)
        rest = whole - drawn
        pairs = Pairs(*map(int, (*drawn, rest[:2].sum(), rest[2:].sum())))
        true = (whole[0] + whole[2]) / case.mutants
        low, high = proxied_bounds(pairs, pairs, NONE, NONE, ERROR)
        holds.append(low - 1e-9 <= true <= high + 1e-9)
        errors.append(proxied(pairs).share - true)
        plain.append((drawn[0] + drawn[2]) / case.drawn - true)
    rate, error = simulated_rate(holds)
    found = [Figure(f"both bounds hold, {case}", rate, "at least 0.95", low=0.95, error=error)]
    if told:
        found.append(_saving(case, np.array(errors), np.array(plain)))
    return found


def _saving(case: Case, errors: np.ndarray, plain: np.ndarray) -> Figure:
    """Return the mutants saved, with a standard error from a hundred resamples."""
    n, whole, rng = case.drawn, case.mutants, np.random.default_rng(2)

    def saved(at: np.ndarray) -> float:
        ratio = (errors[at] ** 2).mean() / (plain[at] ** 2).mean()
        return float(1 - n * (ratio * (1 / n - 1 / whole) + 1 / whole))

    everyone = np.arange(len(errors))
    spread = float(np.std([saved(rng.choice(everyone, len(everyone))) for _ in range(100)]))
    promised = f"{case.saved:.2f} by the formula"
    return Figure(
        f"mutants of the dear model saved, {case}",
        saved(everyone),
        promised,
        low=case.saved - 0.03,
        error=spread,
    )
