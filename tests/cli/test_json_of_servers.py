"""`simulate --json` and `proxy --json` print where they listen, as one document that keeps its schema."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.json_of_verbs import problems
from tests.warm_command import AGENTMUT, ROOT

pytestmark = pytest.mark.process


@pytest.mark.parametrize("verb", ["simulate", "proxy"])
def test_a_server_says_in_one_document_where_it_listens(verb: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    command = [*AGENTMUT, verb, "--port", "0", "--json"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        said = ""
        while not said.endswith("\n}\n") and (line := server.stdout.readline()):
            said += line
        server.send_signal(signal.SIGINT)
        said += server.stdout.read()
        server.wait(timeout=600)
    document = json.loads(said)
    assert problems(verb, document) == []
    assert document["url"].startswith("http://127.0.0.1:")
