"""Secrets are told from ordinary text by their form, by the name before them, and by their entropy."""

import base64
import html
import json
import uuid
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.trace import Action, AgentTrace, Step
from agentmut.recording.known_secrets import short_secrets
from agentmut.recording.random_text import is_random
from agentmut.recording.redaction import MASK, Redactor, secrets_by_form
from tests.recording.ordinary_texts import language_reference, own_pages, words_in
from tests.recording.planted import Planted, planted_secrets
from tests.recording.second_list import second_list

REDACTOR = Redactor(())


def leaks(text: str, secret: str) -> bool:
    """Return whether eight characters of a secret are left in a text."""
    return any(secret[i : i + 8] in text for i in range(max(1, len(secret) - 7)))


@pytest.mark.parametrize("seed", [20, 21, 22, 23, 24])
def test_no_planted_secret_is_left(seed: int) -> None:
    planted = planted_secrets(seed)
    assert len(planted) == 200
    assert [one for one in planted if leaks(REDACTOR.text(one.text), one.secret)] == []


@pytest.mark.parametrize("seed", [77, 78])
def test_no_secret_of_a_second_list_is_left(seed: int) -> None:
    planted = list(second_list(seed))
    assert len(planted) > 250
    assert [one for one in planted if leaks(REDACTOR.text(one.text), one.secret)] == []


WRAPPED: dict[str, Callable[[str], str]] = {
    "JSON": json.dumps,
    "JSON within JSON": lambda text: json.dumps({"body": json.dumps({"said": text})}),
    "behind a line break in JSON": lambda text: json.dumps(f"Hello.\n{text}\nBye."),
}


@pytest.mark.parametrize("how", WRAPPED)
def test_what_wraps_a_secret_does_not_hide_it(how: str) -> None:
    planted = [one for one in planted_secrets() if one.secret.isalnum()]
    wrapped = [one._replace(text=WRAPPED[how](one.text)) for one in planted]
    assert [one for one in wrapped if leaks(REDACTOR.text(one.text), one.secret)] == []


@pytest.mark.parametrize("one", planted_secrets()[::9], ids=lambda one: one.kind)
def test_json_stays_json(one: Planted) -> None:
    assert isinstance(
        json.loads(REDACTOR.text(json.dumps({"a": [one.text, {"b": f"\n{one.text}\n"}]}))), dict
    )


def test_masking_again_changes_nothing() -> None:
    once = [REDACTOR.text(one.text) for one in planted_secrets()]
    assert [REDACTOR.text(text) for text in once] == once


@pytest.mark.parametrize("corpus", [language_reference, own_pages])
def test_ordinary_text_has_one_false_alarm_in_10_000_words_at_most(corpus: Callable[[], list[str]]) -> None:
    texts = list(corpus())
    found = [secret for text in texts for secret in secrets_by_form(text)]
    assert words_in(texts) > 50_000
    assert len(found) <= words_in(texts) / 10_000, found


IDS = (
    "call_9Xk2LmPz9RtV4bNc8WdY1sFhJ3gKu6A8",
    "toolu_01A09q90qw90lq917835lq9Xk2LmPz9Rt",
    "chatcmpl-Bq7Xk2LmPz9RtV4bNc8WdY1sFhJ3gKu6A",
    "msg_01XFDUDYJgAACzvnptvVoYELq7Xk2LmPz9RtV4",
    "resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b",
    str(uuid.UUID(int=0x550E8400E29B41D4A716446655440000)),
    "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef",
    "https://docs.example.org/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "order-2024-11-27-checkout-service-deployment-7d9f8b6c5-x2k4p",
    '{"next_page_token": "q7Xk2LmPz9RtV4bNc8WdY1sFhJ3gKu6A"}',
    '{"signature": "q7Xk2LmPz9RtV4bNc8WdY1sFhJ3gKu6A"}',
    '{"type": "input", "password": {"type": "string"}, "max_tokens": 4096, "token": "Hello"}',
    "Your password must have 12 characters. The password is case-sensitive. Secret: cook it slowly.",
    "the API key is required; set OPENAI_API_KEY=$KEY or api_key=os.environ['KEY']",
    "sk-learn-contrib-and-other-packages, pk_customers_orders_by_region, hf_model_of_the_week",
)


@pytest.mark.parametrize("text", IDS)
def test_what_names_a_thing_or_tells_of_secrets_is_left(text: str) -> None:
    assert REDACTOR.text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "urlopen(url, user=None, password=None)",
        "PWD=/work/shop/agents",
        "OLDPWD=/home/bob",
        "f(password=None): x",
    ],
)
def test_a_signature_and_a_shell_s_folder_are_no_passwords(text: str) -> None:
    assert REDACTOR.text(text) == text


KNOWN = 'Zq7/Kd+9w=Ül"x\\pT4m'
RAW = KNOWN.encode()
SPELLINGS = {
    "JSON within JSON within JSON": json.dumps(json.dumps(json.dumps(KNOWN))),
    "in an address of an address": quote(quote(KNOWN, safe=""), safe=""),
    "in base64 behind a name": base64.b64encode(b"u:" + RAW).decode(),
    "in digits": RAW.hex(),
    "in capital digits": RAW.hex().upper(),
    "in HTML": html.escape(KNOWN),
    "in Python": repr(KNOWN),
    "bytes in Python": repr(RAW),
    "over two lines": f"{KNOWN[:9]}\n{KNOWN[9:]}",
    "over two lines of a table": f"{KNOWN[:9]}\n    {KNOWN[9:]}",
    "over two lines of Windows": f"{KNOWN[:9]}\r\n{KNOWN[9:]}",
    "over two lines in JSON": json.dumps(f"{KNOWN[:9]}\n{KNOWN[9:]}"),
    "over two lines of a shell": f"{KNOWN[:9]}\\\n{KNOWN[9:]}",
    "over two lines of a quotation": f"{KNOWN[:9]}\n> {KNOWN[9:]}",
    "over three lines": f"{KNOWN[:5]}\n{KNOWN[5:9]}\n{KNOWN[9:]}",
    "in base64 over two lines": base64.encodebytes(b"x" * 50 + RAW).decode(),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_known_secret_is_found_in_every_spelling(spelling: str) -> None:
    redactor, text = Redactor([KNOWN]), f"It is {SPELLINGS[spelling]} now\nand then."
    clean = redactor.text(text)
    assert MASK in clean
    assert redactor.secrets_in(text)
    assert not any(RAW.hex()[i : i + 12] in clean.lower() for i in range(0, 24, 2))
    assert "Kd" not in clean
    assert "pT4m" not in clean
    assert redactor.text(clean) == clean


def test_lines_that_hold_no_secret_stay_as_they_are() -> None:
    text = "correct\nhorse\n\n- battery\n- staple\n"
    assert Redactor(["correct horse battery", "horsebatterystaplecorrect"]).text(text) == text


def test_a_long_piece_of_base64_is_content_and_no_secret() -> None:
    content = base64.b64encode(bytes(range(256)) * 40).decode()
    assert REDACTOR.text(content) == content
    assert is_random(content[40:100])


def test_a_token_in_base64_is_found() -> None:
    token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    assert REDACTOR.text(f"secret: {base64.b64encode(token.encode()).decode()}!") == f"secret: {MASK}!"


def test_secrets_in_arguments_of_tools_are_known_by_their_names() -> None:
    steps = (
        Step(action=Action.CALL_TOOL, tool="log_in", arguments={"user": "ann", "password": "swordfish"}),
    )
    kept = REDACTOR.execution(
        Execution(ending=Ending.ANSWERED, trace=AgentTrace(steps=steps, outputs=("ok",)))
    )
    assert kept.trace.steps[0].arguments == {"user": "ann", "password": MASK}


def test_what_stands_in_the_project_s_own_texts_is_left() -> None:
    said = "Use the demo key sk_test_4eC39HqLyjWDarjtT1zdp7dc."
    assert Redactor((), own=[said]).text(said) == said
    assert MASK in REDACTOR.text(said)


def test_short_passwords_of_variables_are_secret_as_whole_words() -> None:
    given = {"DB_PASSWORD": "hunter2", "SMTP_PASS": "swordfish", "ADMIN_PIN": "4711", "MAX_TOKENS": "4096"}
    short = short_secrets(
        {**given, "TOKENIZERS_PARALLELISM": "false", "OPENAI_API_KEY": "EMPTY", "DB_SECRET": "admin"}
    )
    assert short == {"hunter2", "swordfish", "4711"}
    said = r'hunter2, swordfishes; {"a": "\nhunter2\n"} 47110 4711'
    assert Redactor((), short=short).text(said) == (
        rf'{MASK}, swordfishes; {{"a": "\n{MASK}\n"}} 47110 {MASK}'
    )


def test_a_short_password_of_an_address_is_secret_elsewhere_too() -> None:
    short = short_secrets({"DATABASE_URL": "postgres://shop:Tr0ub4@db/shop"})
    assert Redactor((), short=short).text("login with Tr0ub4 failed") == f"login with {MASK} failed"


def test_half_of_a_secret_at_a_cut_is_masked() -> None:
    secret = "q7Xk2LmPz9RtV4bNc8WdY1sFhJ3gKu6A"
    found = REDACTOR.secrets_in(f"the key is {secret}")
    said = f"'the key is {secret[:9]}...' and '...{secret[-6:]}' and {secret[:5]}"
    assert REDACTOR.quoting(said, found) == f"'the key is {MASK}...' and '...{MASK}' and {MASK}"
    assert REDACTOR.quoting("the k...", found) == "the k..."


@settings(max_examples=300)
@given(st.text())
def test_any_text_can_be_searched(text: str) -> None:
    once = REDACTOR.text(text)
    assert REDACTOR.text(once) == once


@pytest.mark.parametrize(
    "text",
    [
        '{"auths": {"ghcr.io": {"auth": "%s"}}}',
        json.dumps('{"auths": {"ghcr.io": {"auth": "%s"}}}'),
    ],
)
def test_the_login_of_docker_is_found(text: str) -> None:
    login = base64.b64encode(b"bob:Tr4cyXq9Lm2").decode()
    assert login not in REDACTOR.text(text % login)


def test_the_token_of_braintree_is_found() -> None:
    token = "access_token$production$q8v2kd7xw4mz9ptb$5e61f14c18d95cd9a56ff033c32c2f7e"
    assert REDACTOR.text(f"pay with {token} now") == f"pay with {MASK} now"
