"""Requests that an agent signs itself (AWS SigV4) and sends by httpx, as LiteLLM does; botocore checks them."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping
from typing import Any, cast
from urllib.parse import quote, urlsplit

import httpx
import pytest
from aiohttp import web
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from agentmut.recording.current import running
from agentmut.recording.trial import Trial
from agentmut.wire.carriers.proxy.gateway import open_gateway
from agentmut.wire.carriers.proxy.upstream import doors_of
from agentmut.wire.carriers.transport import Tap
from agentmut.wire.dialects.converse.converse import Converse
from tests.loopback import ANY_PATH, served

KEY, SECRET, REGION = "AKIATEST", "s3cret", "eu-west-1"
PATH = f"/model/{quote('vendor.m-v1:0', safe='')}/converse"
BODY = {"system": [{"text": "Be kind."}], "messages": [{"role": "user", "content": [{"text": "Hi"}]}]}


def signed(url: str, body: bytes, moment: str = "") -> dict[str, str]:
    """The headers of the request, signed as botocore does it; at another moment, to check a signature."""
    request = AWSRequest("POST", url, headers={"Content-Type": "application/json"}, data=body)
    signer = SigV4Auth(Credentials(KEY, SECRET), "bedrock", REGION)
    if not moment:
        signer.add_auth(request)
        return dict(request.headers.items())
    request.context["timestamp"] = moment
    signer._modify_request_before_signing(request)  # as `add_auth`, which takes the clock
    request.headers.replace_header("X-Amz-Date", moment) if "X-Amz-Date" in request.headers else None
    signature = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    signer._inject_signature_to_request(request, signature)
    return dict(request.headers.items())


def due_by_the_specification(method: str, url: str, headers: Mapping[str, str], body: bytes) -> str:
    """The signature of a request by AWS's description of Signature Version 4, step by step, without botocore.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
    """
    credential, names, _ = (
        part.partition("=")[2] for part in headers["Authorization"].split(" ", 1)[1].split(", ")
    )
    day, region, service, end = credential.split("/")[1:]
    place = urlsplit(url)
    canonical = "\n".join(
        [
            method,
            quote(
                place.path, safe="/-_.~"
            ),  # encoded once more than on the wire, as all services but S3 have it
            place.query,
            *(f"{name}:{' '.join(headers[name].split())}" for name in names.split(";")),
            "",
            names,
            hashlib.sha256(body).hexdigest(),
        ]
    )
    scope = f"{day}/{region}/{service}/{end}"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    to_sign = f"AWS4-HMAC-SHA256\n{headers['X-Amz-Date']}\n{scope}\n{digest}"
    key = f"AWS4{SECRET}".encode()
    for part in (day, region, service, end):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.new(key, to_sign.encode(), "sha256").hexdigest()


class Bedrock:
    """A service that takes a request with a valid signature alone; botocore and the specification agree on it."""

    def __init__(self) -> None:
        self.url = ""
        self.said: list[str] = []

    async def handle(self, http: web.Request) -> web.Response:
        body = await http.read()
        due = signed(f"{self.url}{http.raw_path}", body, http.headers["X-Amz-Date"])["Authorization"]
        if http.headers["Authorization"] != due:
            return web.json_response({"message": "The request signature does not match"}, status=403)
        assert due.endswith(
            f"Signature={due_by_the_specification(http.method, self.url + http.raw_path, http.headers, body)}"
        )
        self.said.append(json.loads(body)["system"][0]["text"])
        reply = {
            "output": {"message": {"role": "assistant", "content": [{"text": "Hello."}]}},
            "stopReason": "end_turn",
        }
        return web.json_response({**reply, "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}})


@pytest.fixture
def bedrock(loop_thread: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bedrock]:
    found = Bedrock()

    with served(loop_thread, {ANY_PATH: found.handle}) as address:
        found.url = address
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        yield found


class Brief:
    """A mutant that is told to be brief."""

    needs_whole_replies = False

    def request(self, codec: Any, call: Any) -> Any:
        from agentmut.recording.trial import OutgoingRequest

        return OutgoingRequest(call._replace(body=call.body.replace(b"Be kind.", b"Be brief.")))

    def reply(self, codec: Any, sent: Any, body: bytes) -> Any:
        from agentmut.recording.trial import HandledReply

        return HandledReply(body)

    def event(self, codec: Any, sent: Any, value: Any) -> Any:
        return value


def status_of_a_changed_request(bedrock: Bedrock) -> int:
    body, url = json.dumps(BODY).encode(), f"{bedrock.url}{PATH}"
    trial = Trial("t", rewriter=cast(Any, Brief()))
    with Tap((Converse(),)).installed(), running(trial), httpx.Client() as client:
        return client.post(url, content=body, headers=signed(url, body)).status_code


def test_a_changed_request_is_signed_again_with_the_agents_own_key(bedrock: Bedrock) -> None:
    assert status_of_a_changed_request(bedrock) == 200
    assert bedrock.said == ["Be brief."]


def test_with_another_key_the_service_refuses_it(bedrock: Bedrock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAOTHER")
    assert status_of_a_changed_request(bedrock) == 403
    assert bedrock.said == []


def status_through_the_proxy(bedrock: Bedrock, key: str, path: str = PATH) -> int:
    """Ask as a program does whose endpoint is the proxy's: botocore signs for that address."""
    body = json.dumps(BODY).encode()

    async def ask() -> int:
        async with open_gateway({"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": bedrock.url}) as gateway:
            attempt = gateway.attempt("t")
            url = f"{attempt.endpoints['AWS_ENDPOINT_URL_BEDROCK_RUNTIME']}{path}"
            headers = {n: v.replace(KEY, key) for n, v in signed(url, body).items()}
            async with httpx.AsyncClient() as client:
                with attempt.admitted(Trial("t", rewriter=cast(Any, Brief()))):
                    return (await client.post(url, content=body, headers=headers)).status_code

    return asyncio.run(ask())


def test_the_proxy_signs_a_programs_request_for_the_service(bedrock: Bedrock) -> None:
    assert status_through_the_proxy(bedrock, KEY) == 200
    assert bedrock.said == ["Be brief."]


def test_a_signed_request_that_is_not_read_is_signed_again_too(bedrock: Bedrock) -> None:
    assert status_through_the_proxy(bedrock, KEY, "/model/anthropic.claude-x/count-tokens") == 200
    assert bedrock.said == ["Be kind."]


def test_the_proxy_does_not_sign_with_a_key_that_is_not_the_programs(bedrock: Bedrock) -> None:
    assert status_through_the_proxy(bedrock, "AKIAOTHER") == 403
    assert bedrock.said == []


def test_a_program_is_led_to_bedrock_where_its_environment_has_a_region_and_a_key() -> None:
    def named(**environment: str) -> str:
        doors = doors_of(environment)
        return next((str(door.upstream.base) for door in doors if door.service.name == "bedrock"), "")

    assert (
        named(AWS_REGION="us-east-1", AWS_PROFILE="me") == "https://bedrock-runtime.us-east-1.amazonaws.com"
    )
    assert named(AWS_REGION="us-east-1") == named(AWS_PROFILE="me") == ""
