"""Programs that hard-code `https://api.openai.com`, led to a service on loopback through the proxy of a session."""

import asyncio
import shutil
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from agentmut._base import UsageError
from agentmut.nouns.execution import Ending
from agentmut.trial.witness.absence import absence
from agentmut.trial.witness.witness import Detector
from agentmut.wire.carriers.proxy.gateway import open_gateway
from agentmut.wire.carriers.proxy.interception import targets
from agentmut.wire.carriers.proxy.upstream import doors_of
from tests.trial.test_agents_outside import MUTANT, PROMPT, opened, ran, systems

trustme = pytest.importorskip("trustme")
pytestmark = pytest.mark.process
BODY = """
import json, os, sys
messages = [{"role": "system", "content": "PROMPT"}, {"role": "user", "content": sys.stdin.read()}]
body = json.dumps({"model": "sim-large", "messages": messages})
headers = {"Content-Type": "application/json", "Authorization": "Bearer k"}
URL = "https://api.openai.com/v1/chat/completions"
""".replace("PROMPT", PROMPT)
PROGRAMS = {
    "urllib": "import urllib.request as u\nprint(u.urlopen(u.Request(URL, body.encode(), headers)).read().decode())",
    "httpx": "import httpx\nprint(httpx.post(URL, content=body, headers=headers).text)",
    "requests": "import requests\nprint(requests.post(URL, data=body, headers=headers).text)",
    "curl, Expect": "import subprocess as s\nheads = [*map(': '.join, headers.items()), 'Expect: 100-continue']\n"
    "told = ['--expect100-timeout', '20', '-m', '15', *(w for h in heads for w in ('-H', h))]\n"
    "print(s.run(['curl', '-sS', URL, '-d', body, *told], check=True, capture_output=True, text=True).stdout)",
    "curl": "import subprocess as s\nheads = [w for pair in headers.items() for w in ('-H', ': '.join(pair))]\n"
    "print(s.run(['curl', '-sS', URL, '-d', body, *heads], check=True, capture_output=True, text=True).stdout)",
}


@pytest.fixture(autouse=True)
def model(service: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    return service


def program(folder: Path, code: str, **agent: Any) -> Any:
    (folder / "ask.py").write_text(BODY + code)
    return opened(folder, adapter="command", command=[sys.executable, "ask.py"], **agent)


@pytest.mark.parametrize("client", PROGRAMS)
def test_a_hard_coded_address_is_intercepted_changed_and_witnessed(
    client: str, model: Any, tmp_path: Path
) -> None:
    if "curl" in client and not shutil.which("curl"):
        pytest.skip("there is no curl")
    session = program(tmp_path, PROGRAMS[client], intercept=True)
    plain, mutated = ran(session, None, MUTANT)
    assert plain.ending is mutated.ending is Ending.ANSWERED, plain.trace.stderr
    assert systems(model) == ["Be kind.", PROMPT]
    assert Detector(MUTANT, session.suite.full).witness(mutated.footprint) is not None
    assert model.headers[0]["authorization"] == "Bearer k" and "proxy-authorization" not in model.headers[0]


def test_a_program_that_trusts_its_own_certificate_alone_is_told_of_it(model: Any, tmp_path: Path) -> None:
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "own.pem"))
    code = (
        "import ssl, urllib.request as u\ncontext = ssl.create_default_context(cafile='own.pem')\n"
        "try: u.urlopen(u.Request(URL, body.encode(), headers), context=context)\n"
        "except OSError: print('sorry')"
    )
    session = program(tmp_path, code, intercept=True)
    (done,) = ran(session, None)
    said = absence(MUTANT, session.suite.full, [done.footprint], session.suite.on_wire)
    assert (
        "the program refused agentmut's certificate for api.openai.com:443" in said
        and "SSL_CERT_FILE" in said
    )


SHOWN = """
bundle = os.environ["SSL_CERT_FILE"]
print(bundle, *[oct(os.stat(p).st_mode & 0o777) for p in (os.path.dirname(bundle), bundle)])
place = os.path.dirname(bundle)
print("PRIVATE" in "".join(open(os.path.join(place, name)).read() for name in os.listdir(place)))
"""


def test_the_authoritys_files_are_private_hold_no_key_and_are_removed(tmp_path: Path) -> None:
    (done,) = ran(program(tmp_path, SHOWN, intercept=True), None)
    bundle, folder_mode, file_mode, key = str(done.trace.output).split()
    assert (folder_mode, file_mode, key) == ("0o700", "0o600", "False")
    assert not Path(bundle).parent.exists()


def test_nothing_is_intercepted_unless_it_is_asked_for(tmp_path: Path) -> None:
    code = "print([n for n in os.environ if n.upper() == 'HTTPS_PROXY' or 'authority' in os.environ[n]])"
    (done,) = ran(program(tmp_path, code), None)
    assert str(done.trace.output).strip() == "[]"


def test_certificates_that_a_program_is_told_of_already_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"):
        (tmp_path / name).write_text(f"of {name}\n")
        monkeypatch.setenv(name, str(tmp_path / name))
    code = "print(*[open(os.environ[n]).readline() for n in ('NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE')])"
    (done,) = ran(program(tmp_path, code, intercept=True), None)
    assert str(done.trace.output).split() == ["of", "NODE_EXTRA_CA_CERTS", "of", "SSL_CERT_FILE"]


def test_other_hosts_pass_encrypted_and_strangers_are_refused(tmp_path: Path) -> None:
    issuer = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issuer.issue_cert("localhost").configure_cert(context)
    issuer.cert_pem.write_to_path(str(tmp_path / "other.pem"))

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-length", "5")
            self.end_headers()
            self.wfile.write(b"other")

        def log_message(self, *_: Any) -> None:
            return

    with HTTPServer(("127.0.0.1", 0), Other) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        code = (
            "import http.client, ssl, urllib.parse, base64\n"
            "proxy = urllib.parse.urlsplit(os.environ['HTTPS_PROXY'])\n"
            "def get(user):\n"
            "    own = ssl.create_default_context(cafile='other.pem')\n"
            "    line = http.client.HTTPSConnection(proxy.hostname, proxy.port, context=own)\n"
            "    told = base64.b64encode(user.encode()).decode()\n"
            f"    line.set_tunnel('localhost', {port}, {{'Proxy-Authorization': 'Basic ' + told}})\n"
            "    try:\n"
            "        line.request('GET', '/')\n"
            "        return line.getresponse().read().decode()\n"
            "    except OSError as error:\n"
            "        return str(error)\n"
            "print(get(proxy.username + ':' + proxy.password))\nprint(get(proxy.username + ':guess'))\n"
        )
        (done,) = ran(program(tmp_path, code, intercept=True), None)
        server.shutdown()
    passed, refused = str(done.trace.output).splitlines()
    assert passed == "other", done.trace.stderr
    assert "407" in refused


def variables(intercept: tuple[str, ...], **environment: str) -> dict[str, str]:
    async def opened() -> dict[str, str]:
        async with open_gateway(environment, intercept=intercept) as gateway:
            return dict(gateway.attempt("t/1").endpoints)

    return asyncio.run(opened())


def test_what_cannot_be_intercepted_is_refused_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"cannot be used behind it\. Unset https_proxy"):
        variables((), https_proxy="http://proxy.corp:3128")
    with pytest.raises(UsageError, match="'https://x/y' is no host"):
        variables(("https://x/y",))
    monkeypatch.setitem(sys.modules, "trustme", None)
    with pytest.raises(UsageError, match=r"pip install 'agentmut\[intercept\]'"):
        variables(())


def test_the_trial_is_the_user_of_the_proxys_address() -> None:
    found = variables(())
    assert found["HTTPS_PROXY"].startswith("http://t%2F1.1:") and found["NODE_USE_ENV_PROXY"] == "1"
    assert not Path(found["SSL_CERT_FILE"]).exists()  # the run is over


def test_requests_go_to_the_service_that_the_environment_names() -> None:
    doors = doors_of({"OPENAI_BASE_URL": "http://127.0.0.1:9/x/v1"})
    found = targets(doors, ("llm.corp:8443",))
    openai = found["api.openai.com:443"]
    assert (
        openai.upstream.url(openai.path("/v1/chat/completions?a=1"))
        == "http://127.0.0.1:9/x/v1/chat/completions?a=1"
    )
    anthropic, corp = found["api.anthropic.com:443"], found["llm.corp:8443"]
    assert anthropic.upstream.url(anthropic.path("/v1/messages")) == "https://api.anthropic.com/v1/messages"
    assert corp.upstream.url(corp.path("/any")) == "https://llm.corp:8443/any"
