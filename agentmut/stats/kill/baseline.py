"""How many baseline trials the original gets on each scenario."""

from agentmut.stats.checks import check_count


def automatic_size(mutants: int) -> int:
    """Baseline trials a scenario for a campaign of `mutants`: 50 up to 20, 100 up to 50, 200 beyond.

    All mutants share the baseline, so more of them pay for a larger one, which shortens each mutant's trials.

    >>> [automatic_size(m) for m in (20, 21, 50, 51)]
    [50, 100, 100, 200]
    """
    mutants = check_count("mutants", mutants)
    if mutants <= 20:
        return 50
    return 100 if mutants <= 50 else 200
