"""JSON with comments, as editors let users write it."""

import json
import time

import pytest

from agentmut._base.json_text import without_comments


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('{"a": 1, /* one */ "b": [2 /* two */ ]}', {"a": 1, "b": [2]}),
        ("[1, /* one */ 2 /* two */]", [1, 2]),
        ("[1, // one\n 2, // two\n]", [1, 2]),
        ("[1, /* one */ // two\n /* three */ ]", [1]),
        ('["/* kept */", "// kept", ", ]"]', ["/* kept */", "// kept", ", ]"]),
        ('["\\"/* kept */"]', ['"/* kept */']),
    ],
)
def test_comments_and_last_commas_go_and_all_else_stays(written: str, value: object) -> None:
    assert json.loads(without_comments(written)) == value


def test_a_comment_without_an_end_stays_for_the_error_to_name_it() -> None:
    with pytest.raises(json.JSONDecodeError, match="line 2 column 2"):
        json.loads(without_comments("[1,\n /* 2]"))


@pytest.mark.parametrize("piece", ["/*", ",/*a*/", '"\\"', "/*a*/", ",/*", ",", ", ", '"', "//", "/**/ "])
def test_the_time_is_linear(piece: str) -> None:
    def seconds(pieces: int) -> float:
        begun = time.process_time()
        without_comments("," + piece * pieces)
        return time.process_time() - begun

    assert seconds(100_000) < 60 * seconds(10_000) + 0.1  # squared it is 100 times as long, some 40 s
