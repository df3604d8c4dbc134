"""Writing of a verb's output to stdout, into a file, or to the end of a file."""

import os
import sys
from pathlib import Path


def deliver(text: str, output: Path | None, append: bool = False) -> None:
    """Write the text to stdout, into the file, or to its end. Raises `UsageError` where the file cannot be written,
    and `StoreError` on a full disk.
    """
    if output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.flush()
        return
    deliver_bytes(text.encode("utf-8", "replace"), output, append)


def deliver_bytes(content: bytes, output: Path, append: bool = False) -> None:
    """Write the bytes into the file, or to its end. Raises `UsageError` where the file cannot be written,
    and `StoreError` on a full disk.
    """
    from agentmut._base import unwritten

    try:
        write_output(output, content, append)
    except OSError as error:
        problem = f"--output {output} cannot be written"
        raise unwritten(problem, error, "Name a file in a folder that exists.") from None


def write_output(output: Path, content: bytes, append: bool = False) -> None:
    """Write the bytes into the file, or to its end, all or none. Raises `OSError`; then the file is as before."""
    from agentmut._base import refuse_read_only, write_whole

    refuse_read_only(output)
    if output.exists() and not output.is_file():  # a pipe or a device takes no other in its place
        with output.open("wb") as file:
            file.write(content)
    elif append:
        _append(output, content)
    else:
        write_whole(output, content)


def _append(output: Path, content: bytes) -> None:
    with output.open("ab", buffering=0) as file:
        before = os.fstat(file.fileno()).st_size
        try:
            if (written := file.write(content)) < len(content):
                file.write(content[written:])
        except OSError:
            file.truncate(before)
            raise
