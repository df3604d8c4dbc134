"""Secrets in many carriers: what is left of them is listed, and nothing else is."""

import base64
import json
import random
import re
from collections.abc import Callable

import pytest

from agentmut.nouns import Execution
from agentmut.nouns.cassette import Take
from agentmut.nouns.execution import Ending
from agentmut.nouns.trace import AgentTrace
from agentmut.recording import DeclaredSecrets
from agentmut.recording.redaction import MASK, Redactor
from tests.recording.third_list import CHARACTERS, NOT_FOUND, PHRASE, SOMETIMES_FOUND, b64, third_list

REDACTOR = Redactor(())
LIST = third_list()
_RUN = re.compile(r"[A-Za-z0-9+/_=%\\;&#x-]{6,}")
SEEDS = range(3)


def left_of(kind: str, seed: int) -> list[str]:
    """Return the runs of a masked text that are not in the masked text of another drawing: what is left of a secret."""
    one, other = (REDACTOR.text(LIST[kind](random.Random(n))) for n in (seed, seed + 100))
    return [run for run in _RUN.findall(one) if run not in other and "redacted" not in run]


def test_the_list_is_long_and_its_texts_differ() -> None:
    assert len(LIST) > 400
    assert not [kind for kind, make in LIST.items() if make(random.Random(1)) == make(random.Random(2))]


@pytest.mark.parametrize("kind", [kind for kind in LIST if kind not in {*NOT_FOUND, *SOMETIMES_FOUND}])
def test_nothing_is_left(kind: str) -> None:
    assert [left for seed in SEEDS if (left := left_of(kind, seed))] == []


@pytest.mark.parametrize("kind", NOT_FOUND)
def test_what_is_said_to_be_left_is_left(kind: str) -> None:
    assert all(left_of(kind, seed) for seed in SEEDS), "SECURITY.md says that this is not found"


@pytest.mark.parametrize("text", CHARACTERS)
def test_characters_that_stand_alone_are_left(text: str) -> None:
    assert REDACTOR.text(text) == text, "SECURITY.md says that this is not found"


@pytest.mark.parametrize("kind", LIST)
def test_json_stays_json_and_masking_again_changes_nothing(kind: str) -> None:
    text = json.dumps({"a": [LIST[kind](random.Random(4))], "b": 1})
    once = REDACTOR.text(text)
    assert json.loads(once)["b"] == 1
    assert REDACTOR.text(once) == once


@pytest.mark.parametrize("phrase", PHRASE)
@pytest.mark.parametrize(
    "shape",
    [
        "{}",
        "seed phrase: {}.",
        '{{"words": "{}"}}',
        "Write it down:\n{}\nNow.",
        "IT IS {}",
        "it is that {} of mine",
    ],
)
def test_the_phrase_of_a_wallet_is_found(phrase: str, shape: str) -> None:
    text = shape.format(phrase.upper() if "IT" in shape else phrase)
    clean = REDACTOR.text(text)
    assert MASK in clean
    assert not [word for word in phrase.split()[1:-1] if f" {word} " in clean.lower()]


@pytest.mark.parametrize("gap", ["\n", ", ", "\n- ", '", "', " | ", "\r\n"])
def test_the_phrase_of_a_wallet_is_found_in_a_list(gap: str) -> None:
    assert "winner" not in REDACTOR.text(f"Words: {gap.join(PHRASE[0].split())}")


def test_the_phrase_of_a_wallet_is_found_in_a_numbered_list() -> None:
    words = PHRASE[0].split()
    assert "winner" not in REDACTOR.text("\n".join(f"{n}. {word}" for n, word in enumerate(words, 1)))


def test_a_sentence_and_eleven_words_are_no_phrase() -> None:
    said = "Please write about the doctor and avoid the subject until someone can offer proper advice. " * 3
    few = " ".join(PHRASE[0].split()[:11])
    assert REDACTOR.text(said) == said
    assert REDACTOR.text(few) == few


PIECES = {
    "text": ["password", ": ", "Tr0u", "b4d", "or&3x", " is it"],
    "arguments": ['{"pass', 'word": "', "Tr0u", "b4d", "or&3x", '"}'],
    "known": ["say hun", "ter2", "hunt", "er2", " to enter"],
    "token": ["use gh", "p_1Ab2", "C3d4E5", "f6G7h8I9j0K1l2", "M3 now"],
    "phrase": [f" {word}" for word in PHRASE[1].split()],
}


def openai(piece: str) -> str:
    return json.dumps({"id": "c-1", "choices": [{"index": 0, "delta": {"content": piece}}]})


def anthropic(piece: str) -> str:
    return json.dumps(
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": piece}}
    )


def responses(piece: str) -> str:
    return json.dumps(
        {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "delta": piece}
    )


def gemini(piece: str) -> str:
    return json.dumps({"candidates": [{"content": {"parts": [{"text": piece}]}, "index": 0}]})


@pytest.mark.parametrize("kind", PIECES)
@pytest.mark.parametrize("event", [openai, anthropic, responses, gemini])
def test_a_secret_in_pieces_of_a_streamed_reply_is_not_recorded(
    kind: str, event: Callable[[str], str]
) -> None:
    given = "".join(f"data: {event(piece)}\n\n" for piece in PIECES[kind])
    clean = recorded(Take(path="/v1", asked="", status=200, given=given))
    events = [json.loads(line[6:]) for line in clean.given.splitlines() if line.startswith("data: ")]
    assert len(events) == len(PIECES[kind])
    assert MASK in clean.given
    assert not [piece for piece in PIECES[kind][2:-1] if json.dumps(piece)[1:-1] in clean.given]
    assert recorded(clean) == clean


def recorded(take: Take) -> Take:
    redactor = Redactor(["hunter2hunter2"], short=["hunter2"])
    trace = AgentTrace(outputs=("ok",))
    return redactor.execution(Execution(ending=Ending.ANSWERED, trace=trace, takes=(take,))).takes[0]


def test_a_stream_without_secrets_stays_as_it_is() -> None:
    given = (
        "".join(f"data: {openai(piece)}\n\n" for piece in ("Where ", "is ", "order ", "1042?"))
        + "data: [DONE]\n\n"
    )
    take = Take(path="/v1", asked="", status=200, given=given)
    assert recorded(take) == take


def test_lines_of_json_are_a_stream_too() -> None:
    given = "".join(json.dumps({"response": piece, "done": False}) + "\n" for piece in PIECES["known"])
    assert [
        json.loads(line)["response"]
        for line in recorded(Take(path="/api/generate", asked="", status=200, given=given)).given.splitlines()
    ] == [f"say {MASK}", "", "", "", " to enter"]


@pytest.mark.parametrize("pieces", [PIECES["known"], PIECES["token"]])
@pytest.mark.parametrize("is_inner", [False, True])
def test_binary_frames_with_a_secret_are_masked_as_a_whole(pieces: list[str], is_inner: bool) -> None:
    events = [json.dumps({"delta": {"text": piece}}, separators=(",", ":")) for piece in pieces]
    frames = [
        json.dumps({"bytes": b64(event)}, separators=(",", ":")) if is_inner else event for event in events
    ]
    body = b"\x00\x01\xff".join(frame.encode() for frame in frames)
    take = Take(path="/model", asked="", status=200, given=b64_of(body), encoded=True)
    assert recorded(take).given == MASK
    harmless = take.model_copy(update={"given": b64_of(b'\xff{"delta":{"text":"Where is it?"}}')})
    assert recorded(harmless) == harmless


def b64_of(body: bytes) -> str:
    return base64.b64encode(body).decode()


ENCODED = {
    "base64": lambda text: b64(f"xx {text} yy zz"),
    "address": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "escapes": lambda text: "".join(f"\\u{ord(c):04X}" for c in text),
    "entities": lambda text: "".join(f"&#x{ord(c):x};" for c in text),
}


@pytest.mark.parametrize("how", ENCODED)
def test_declared_and_known_secrets_are_found_in_encodings(how: str) -> None:
    declared = DeclaredSecrets(["badge"], [r"EMP-\d{6}"])
    redactor = Redactor(["hunter2hunter2"], short=["hunter2"], declared=declared)
    for text in ("EMP-204811", "badge=violet-otter", "hunter2hunter2", "say hunter2 now"):
        encoded = ENCODED[how](text)
        assert redactor.text(f"a {encoded} b") != f"a {encoded} b", text


def test_what_the_project_says_in_an_encoding_is_left() -> None:
    said = f"Decode {b64('password=Tr0ub4dor3x')} and %70assword=Tr0ub4dor3x first."
    assert REDACTOR.text(said) != said
    assert Redactor((), own=[said]).text(said) == said
