"""What is recorded of a trial answers the same questions again, and nothing else."""

import json
from pathlib import Path

import pytest

from agentmut._base.errors import UsageError
from agentmut.nouns.cassette import Cassette, Player, ReplayError, Take, take
from agentmut.nouns.codec import HttpCall
from agentmut.recording.redaction import Redactor
from agentmut.store.cassettes import cassettes_of, read_cassette, write_cassette

CHAT = "/v1/chat/completions"


def asked(**body: object) -> HttpCall:
    return HttpCall(CHAT, json.dumps(body).encode())


def recorded(answer: bytes = b"{}", **body: object) -> Take:
    return take(asked(**body), 200, "application/json", answer)


def test_parallel_requests_find_their_own_answers_in_any_order() -> None:
    player = Player([recorded(b"1", q="one"), recorded(b"2", q="two")])
    assert [player.answer(asked(q=q)).body for q in ("two", "one")] == [b"2", b"1"]
    assert player.left == 0


def test_the_same_question_twice_has_the_first_answer_first() -> None:
    player = Player([recorded(b"1", q="same"), recorded(b"2", q="same")])
    assert [player.answer(asked(q="same")).body for _ in range(2)] == [b"1", b"2"]


def test_the_order_of_keys_and_blanks_do_not_matter() -> None:
    player = Player([recorded(b"1", a=1, b=2)])
    assert player.answer(HttpCall(CHAT, b'{ "b": 2,\n "a": 1 }')).body == b"1"


def test_another_question_is_named_by_the_place_where_it_differs() -> None:
    player = Player([recorded(messages=[{"role": "user", "content": "hello"}])])
    with pytest.raises(ReplayError, match="/messages/0/content"):
        player.answer(asked(messages=[{"role": "user", "content": "goodbye"}]))
    assert player.left == 1


def test_a_request_more_and_another_path_are_refused() -> None:
    with pytest.raises(ReplayError, match="one more request"):
        Player([]).answer(asked())
    with pytest.raises(ReplayError, match="/v1/responses"):
        Player([recorded()]).answer(HttpCall("/v1/responses", b"{}"))


def test_an_answer_that_is_no_text_is_kept_byte_by_byte() -> None:
    frame = bytes(range(256))
    one = take(asked(), 200, "application/vnd.amazon.eventstream", frame)
    assert one.encoded
    assert Take.model_validate_json(one.model_dump_json()).body == frame


def test_a_secret_that_was_taken_out_does_not_keep_its_request_from_being_found() -> None:
    redactor = Redactor(["correct-horse-battery"])
    kept = take(asked(prompt=redactor.text("the key is correct-horse-battery")), 200, "", b"ok")
    player = Player([kept], redactor.text)
    assert player.answer(asked(prompt="the key is correct-horse-battery")).body == b"ok"


@pytest.mark.parametrize("times", [0, 1, 2], ids=["plain", "JSON", "JSON in JSON"])
def test_a_key_at_the_start_of_a_line_is_found_however_often_it_was_escaped(times: int) -> None:
    text = "Use this:\nsk-abcdefghij0123456789"
    for _ in range(times):
        text = json.dumps(text)
    assert "abcdefghij" not in Redactor(()).text(text)


@pytest.mark.parametrize("times", [0, 1, 2], ids=["plain", "JSON", "JSON in JSON"])
def test_a_declared_secret_is_found_however_often_it_was_escaped(times: int) -> None:
    secret = text = 'pass"word\\with-ümlaut'
    for _ in range(times):
        text = json.dumps(text)
    assert Redactor([secret]).text(f"<{text}>").strip('"<>\\') == "[redacted]"


def test_what_only_looks_like_a_key_stays_where_the_project_itself_says_it() -> None:
    example, other = "sk-example-of-a-key-0001", "sk-another-real-key-0002"
    redactor = Redactor((), own=[f"Never repeat keys such as {example}."])
    assert redactor.text(f"{example} {other}") == f"{example} [redacted]"
    declared = Redactor([example], own=[f"Never repeat keys such as {example}."])
    assert declared.text(example) == "[redacted]"


def test_words_with_dashes_are_no_keys() -> None:
    said = "the task-force-of-the-year-2026 and ask-me-anything-about-it"
    assert Redactor(()).text(said) == said


def test_a_cassette_is_found_again_on_disk(tmp_path: Path) -> None:
    cassette = Cassette(trial="ab12", scenario="late", repeat=3, seed=1, takes=(recorded(b"{}", q="one"),))
    write_cassette(tmp_path, cassette)
    assert [read_cassette(path) for path in cassettes_of(tmp_path)] == [cassette]


def test_what_is_no_cassette_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(UsageError, match="no recorded trial of agentmut"):
        read_cassette(tmp_path / "x.json")
    with pytest.raises(UsageError, match="cannot read"):
        read_cassette(tmp_path / "nowhere.json")


def test_a_key_in_the_query_is_not_kept_and_its_request_is_found() -> None:
    call = HttpCall("/v1beta/models/g:generateContent?key=planted", b"{}")
    kept = take(call, 200, "application/json", b"{}")
    assert "planted" not in kept.model_dump_json()
    assert Player([kept]).answer(call) is kept
