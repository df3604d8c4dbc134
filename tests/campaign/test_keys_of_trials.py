"""The keys under which trials are stored."""

import hashlib
import json
from itertools import pairwise

from agentmut.campaign.preparation.identity import Environment, keys_of_repeats, trial_key

NOW = Environment(agentmut="0", record=4, adapter="python", versions={}, endpoints={}, code="c")


def test_keys_of_neighbours_stand_side_by_side_in_an_index() -> None:
    key = keys_of_repeats(NOW, 1, config="c", mutant="m", scenario="s")
    keys = [key(repeat) for repeat in (0, 1, 9, 10, 16, 1_000_000, 2_000_000_000 * 1_000_000)]
    assert keys == sorted(keys)
    assert {len(each) for each in keys} == {64}
    assert len({each[:48] for each in keys}) == 1
    assert all(int(b[48:], 16) > int(a[48:], 16) for a, b in pairwise(keys))


def test_whatever_shapes_a_trial_gives_it_another_key() -> None:
    other = NOW.model_copy(update={"code": "d"})
    keys = {
        trial_key(NOW, 1, config="c", mutant="m", scenario="s", repeat=1),
        trial_key(NOW, 2, config="c", mutant="m", scenario="s", repeat=1),
        trial_key(other, 1, config="c", mutant="m", scenario="s", repeat=1),
        trial_key(NOW, 1, config="x", mutant="m", scenario="s", repeat=1),
        trial_key(NOW, 1, config="c", mutant="x", scenario="s", repeat=1),
        trial_key(NOW, 1, config="c", mutant="m", scenario="x", repeat=1),
        trial_key(NOW, 1, config="c", mutant="m", scenario="s", repeat=2),
    }
    assert len(keys) == 7


def test_the_plan_of_an_earlier_version_goes_on_with_its_own_keys() -> None:
    earlier = NOW.model_copy(update={"record": 3})
    written = json.dumps([earlier.digest, "c", "m", "s", 7, 1], separators=(",", ":"))
    expected = hashlib.sha256(written.encode()).hexdigest()
    assert trial_key(earlier, 1, config="c", mutant="m", scenario="s", repeat=7) == expected
