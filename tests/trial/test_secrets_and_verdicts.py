"""What is kept holds no secrets, and what is judged is what the agent said."""

import pytest

from agentmut.campaign.trials import Suite
from agentmut.judging.building import build_all
from agentmut.nouns.execution import Ending, Execution
from agentmut.nouns.footprints import Footprint, RequestShape
from agentmut.nouns.scenario import EvaluatorSpec, Scenario
from agentmut.nouns.trace import AgentTrace
from agentmut.recording.known_secrets import secret_values, url_secrets
from agentmut.recording.redaction import Redactor
from agentmut.recording.size_limits import SizeLimits

SECRET = "planted-key-0123"
REDACTOR = Redactor([SECRET])


def suite(name: str, argument: str) -> Suite:
    judged = (EvaluatorSpec(name=name, argument=argument),)
    scenario = Scenario(name="s", turns=("hi",), evaluators=judged)
    return Suite({"s": scenario}, {"s": build_all(judged)})


def answered(text: str) -> Execution:
    return Execution(ending=Ending.ANSWERED, trace=AgentTrace(outputs=(text,)))


def test_an_agent_that_tells_a_secret_is_judged_by_that_and_kept_without_it() -> None:
    tests = suite("not_contains", SECRET)
    kept = tests.storable("s", answered(f"The key is {SECRET}."), REDACTOR)
    assert SECRET not in kept.model_dump_json()
    assert kept.trace.output == "The key is [redacted]."
    assert tests.result("s", kept, None).outcome == "fail"
    stored = Execution.model_validate_json(kept.model_dump_json())
    assert tests.can_judge("s", stored)
    assert tests.result("s", stored, None) == tests.result("s", kept, None)


def test_what_is_kept_without_a_secret_is_not_judged_by_other_evaluators() -> None:
    kept = suite("contains", SECRET).storable("s", answered(f"It is {SECRET}"), REDACTOR)
    assert not suite("contains", "It is").can_judge("s", kept)


def test_a_trace_without_secrets_is_judged_by_whatever_evaluators_there_are() -> None:
    kept = suite("contains", "x").storable("s", answered("Hello."), REDACTOR)
    assert kept.trace.judged is None
    assert suite("contains", "Hello").can_judge("s", kept)


class Counting(Redactor):
    """A redactor that counts how often whole runs are searched for the secrets in them."""

    searched = 0

    def secrets_in(self, text: str) -> set[str]:
        self.searched += 1
        return super().secrets_in(text)


@pytest.mark.parametrize(
    ("said", "times"), [("Wait here. " * 200, 0), (f"It is {SECRET}. " + "Wait here. " * 200, 1)]
)
def test_secrets_of_a_cut_run_are_listed_only_where_there_are_some(said: str, times: int) -> None:
    tests, redactor = suite("contains", "Wait")._replace(limits=SizeLimits(text=1000)), Counting([SECRET])
    kept = tests.storable("s", answered(said), redactor)
    assert kept.trace.texts_cut and SECRET not in kept.model_dump_json()
    assert redactor.searched == times


def test_words_of_agentmuts_own_are_not_masked_where_a_secret_is_spelled_the_same() -> None:
    found = Execution(ending=Ending.INFRASTRUCTURE, reason="infrastructure down")
    kept = Redactor(["infrastructure"]).execution(found)
    assert (kept.ending, kept.reason) == (Ending.INFRASTRUCTURE, "[redacted] down")


def test_instructions_are_told_from_the_rest_when_a_secret_was_in_them() -> None:
    text = f"Use {SECRET}.Hello"
    seen = Footprint(requests=(RequestShape(text=text, system=len(text) - 5),))
    kept = REDACTOR.execution(Execution(ending=Ending.ANSWERED, footprint=seen))
    assert kept.footprint.requests[0].instructions == "Use [redacted]."


def test_a_secret_is_known_in_urls_and_in_headers() -> None:
    redactor = Redactor(["planted+plus/secret=key99"])
    assert redactor.text("?sig=planted%2Bplus%2Fsecret%3Dkey99&a=1") == "?sig=[redacted]&a=1"
    assert redactor.text("?q=planted%2bplus/secret%3dkey99") == "?q=[redacted]"
    behind_a_name = "dXNlcjpwbGFudGVkK3BsdXMvc2VjcmV0PWtleTk5"  # base64 of user:planted+plus/secret=key99
    assert redactor.text(behind_a_name) == "dXNlcjp[redacted]"[:7] + "[redacted]"


def test_credentials_are_known_by_their_places() -> None:
    said = "Basic dXNlcjpwMQ== http://me:pw@host/a?x=1&api_key=abcdef https://h/?q=Basic internationalisation"
    assert Redactor(()).text(said) == (
        "[redacted] http://[redacted]@host/a?x=1&api_key=[redacted] https://h/?q=Basic internationalisation"
    )


def test_a_password_in_a_url_of_the_environment_is_secret() -> None:
    found = secret_values((), {"HTTPS_PROXY": "http://me:planted-proxy-password@10.0.0.1:3128"})
    assert Redactor(found).text("407 for planted-proxy-password") == "407 for [redacted]"


def test_what_an_address_says_is_secret_but_for_its_placeholders() -> None:
    found = url_secrets("https://me:secret-of-mine@h/ask?key=planted-url-key&q={input}")
    assert {"planted-url-key", "secret-of-mine", "me:secret-of-mine"} <= found
    assert "{input}" not in found
