"""Become the program of a promptfoo exec provider: INPUT OPTIONS PROGRAM ARGUMENT...

promptfoo gives such a program three further arguments: the prompt, the provider's options and the context, as JSON.
The input file has prompt and context.
"""

import json
import os
import sys
from pathlib import Path


def main(asked: str, options: str, program: str, *arguments: str) -> None:
    """Replace this process by the program."""
    told = json.loads(Path(asked).read_text("utf-8"))
    os.execvp(program, [program, *arguments, told["prompt"], options, json.dumps(told["context"])])


if __name__ == "__main__":
    main(*sys.argv[1:])
