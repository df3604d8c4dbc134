"""All cases. A family is a module with `CASES`; add it here."""

from tests.quality.faulty_agents import circumstances, composition, oracle, permutation, perturbation
from tests.quality.faulty_agents.cases import Case

FAMILIES = (permutation, perturbation, circumstances, composition, oracle)
CASES: tuple[Case, ...] = tuple(case for family in FAMILIES for case in family.CASES)
