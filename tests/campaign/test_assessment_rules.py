"""The stopping rules of an assessment."""

import random

from agentmut.assessment.rules import Sprt
from agentmut.stats.sequential.sprt import SprtDesign


def test_a_sequential_rule_ends_where_the_test_does() -> None:
    design = SprtDesign(0.9, n_max=60)
    rule = Sprt(design, 60)
    for seed in range(20):
        draw = random.Random(seed)
        passed = [draw.random() < 0.85 for _ in range(60)]
        ended = next(n for n in range(61) if rule.ended(passed[:n]))
        assert ended == design.run(passed).n
