"""Agents whose model requests agentmut cannot read: `doctor` says what they did instead, and the line that helps."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentmut.cli import main
from agentmut.store.documents.diagnosis import Diagnosis

AGENT = """
import http.client, json, os, socket, subprocess, urllib.request
import httpx, urllib3

HOST, PORT = "127.0.0.1", {port}
URL = f"http://{{HOST}}:{{PORT}}/v1/chat/completions"
BODY = json.dumps({{"model": "m", "messages": [{{"role": "system", "content": "Be kind."}}]}}).encode()
KEPT = []


def answer(text):
{code}
    return "Hello."
"""
PLAIN = """
    sock = socket.create_connection((HOST, PORT))
    sock.sendall(b"POST /v1/chat/completions HTTP/1.0\\r\\ncontent-length: %d\\r\\n\\r\\n" % len(BODY) + BODY)
    sock.recv(9)
    sock.close()
"""
HTTP_CLIENT = """
    connection = http.client.HTTPConnection(HOST, PORT)
    connection.request("POST", "/v1/chat/completions", BODY)
    connection.getresponse().read()
"""
FORK = """
    if not (child := os.fork()):
        os._exit(0)
    os.waitpid(child, 0)
"""
UNIX = """
    with socket.socket(socket.AF_UNIX) as sock:
        try:
            sock.connect("/nowhere/model.sock")
        except OSError:
            pass
"""
DID = {
    "urllib": ("    urllib.request.urlopen(URL, BODY).read()", "connected to 127.0.0.1:PORT by urllib"),
    "urllib3": ('    urllib3.PoolManager().request("POST", URL, body=BODY)', "127.0.0.1:PORT by urllib3"),
    "http.client": (HTTP_CLIENT, "connected to 127.0.0.1:PORT by http.client"),
    "plain socket": (PLAIN, "connected to 127.0.0.1:PORT by a plain socket"),
    "program": (f"    subprocess.run([{sys.executable!r}, '-c', ''])", "started the program python"),
    "fork": (FORK, "forked a process"),
}


def examined(folder: Path, service: Any, code: str, capsys: Any, **agent: Any) -> Diagnosis:
    module = f"watched_{abs(hash(str(folder)))}"
    text = AGENT.format(port=service.url.split(":")[2].partition("/")[0], code=code)
    (folder / f"{module}.py").write_text(text)
    section = {"adapter": "python", "run": f"{module}:answer", "config": {"prompt": "Be kind."}, **agent}
    section = {key: value for key, value in section.items() if value is not None}
    case = {"name": "hello", "input": "Hi", "evaluators": [{"contains": "Hello"}]}
    project = {"version": 1, "agent": section, "suite": {"scenarios": "scenarios.yaml"}}
    (folder / "scenarios.yaml").write_text(yaml.safe_dump([case]))
    (folder / "agentmut.yaml").write_text(yaml.safe_dump(project | {"execution": {"retries": 0}}))
    with pytest.raises(SystemExit):
        main(["doctor", "--project", str(folder), "--yes", "--json"])
    return Diagnosis.model_validate_json(capsys.readouterr().out)


def said_by_wire(found: Diagnosis) -> str:
    (said,) = {part.wire.said for part in found.parts}
    return said


@pytest.mark.parametrize("client", DID)
def test_an_agent_that_cannot_be_read_here_is_told_what_it_did_and_its_line_as_a_program(
    client: str, service: Any, tmp_path: Path, capsys: Any
) -> None:
    code, did = DID[client]
    found = examined(tmp_path, service, code, capsys)
    said = said_by_wire(found)
    assert not found.reachable and found.trials == 1
    assert did in re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", said), said
    line = re.search(r"`(agent: .*)`", said)
    assert line
    agent = yaml.safe_load(line[1])["agent"]
    assert agent["adapter"] == "command" and agent["command"][-1] == "{input}"
    assert ".answer(sys.argv[1])" in agent["command"][2]


def test_the_line_that_helps_does_help(service: Any, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    environment = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # as in an environment that is activated: the line names `python3`
    monkeypatch.setenv("PATH", environment)
    code = '    urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/chat/completions", BODY).read()'
    line = re.search(r"`(agent: .*)`", said_by_wire(examined(tmp_path, service, code, capsys)))
    assert line
    agent = yaml.safe_load(line[1])["agent"]
    found = examined(tmp_path, service, code, capsys, run=None, **agent)
    assert {part.wire.arrival.value for part in found.parts} == {"yes"}


def test_a_request_in_an_unknown_dialect_is_told_apart(service: Any, tmp_path: Path, capsys: Any) -> None:
    said = said_by_wire(examined(tmp_path, service, '    httpx.post(URL + "/of_another_kind")', capsys))
    assert "by httpx, and none of these requests was in a dialect that agentmut reads" in said
    assert "`agentmut.codecs`" in said


def test_a_socket_file_is_no_case_for_a_program(service: Any, tmp_path: Path, capsys: Any) -> None:
    said = said_by_wire(examined(tmp_path, service, UNIX, capsys))
    assert "connected to the socket /nowhere/model.sock" in said and "uds=..." in said


def test_an_agent_without_a_model_is_not_told_of_clients(service: Any, tmp_path: Path, capsys: Any) -> None:
    said = said_by_wire(examined(tmp_path, service, "    pass", capsys))
    assert (
        "it opened no connection by Python's sockets and started no program" in said
        and "answered without a model" in said
    )


def test_an_agent_that_keeps_replies_is_told_of_its_cache(service: Any, tmp_path: Path, capsys: Any) -> None:
    code = "    KEPT or KEPT.append(httpx.post(URL, content=BODY).json())"
    found = examined(tmp_path, service, code, capsys)
    assert found.requests and not found.reachable
    assert "keeps the replies of its model (a cache)" in said_by_wire(found)
