"""What an agent prints goes to stderr, even where it closes the file of stdout before anything was written there."""

import subprocess
import sys
from pathlib import Path

CODE = """
import os, sys
from agentmut.cli.output import agents_on_stderr
sys.stdout = open(1, "w", closefd=False)  # with a buffer, whatever the environment says
with agents_on_stderr():
    print("of the agent")
    os.close(1)
print("document", flush=True)
"""


def test_what_an_agent_printed_before_it_closed_the_file_is_no_part_of_the_document(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as out:  # to a file, Python writes only once its buffer is full
        done = subprocess.run(
            [sys.executable, "-c", CODE], stdout=out, stderr=subprocess.PIPE, text=True, check=True
        )
    assert (tmp_path / "out").read_text() == "document\n"
    assert done.stderr == "of the agent\n"
