"""A proxy of tool servers: `python -m agentmut.mcp_proxy SERVER ARGUMENT...` on stdin and stdout.

For the place where an agent says how its server is started. In a trial of agentmut the messages of both sides pass
agentmut, which the variable AGENTMUT_MCP_SOCKET leads to; else the server is run in the place of this program.
It needs the standard library alone, since it is started for each server of each trial.
"""

import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

VARIABLE = "AGENTMUT_MCP_SOCKET"
"""`host:port/trial`."""
URL_VARIABLE = "AGENTMUT_MCP_URL"
"""What an agent puts in front of the address of a server that speaks HTTP; unset outside of trials."""
TRIAL, CLIENT, SERVER, END = b"t", b"c", b"s", b"e"
"""What a frame is: the trial's name; a message from or to the client, or the server; the last word."""
HEAD = 5
"""Bytes in front of a frame's content: what it is, and its size."""
GRACE = 2.0
"""Seconds that a server has to end by itself."""
_FARTHEST = 8
"""Generations of programs above this one that are asked for the variable."""


def framed(side: bytes, content: bytes) -> bytes:
    """Return a frame as it is sent.

    >>> framed(CLIENT, b"{}")
    b'c\\x00\\x00\\x00\\x02{}'
    """
    return side + struct.pack(">I", len(content)) + content


def head_of(head: bytes) -> tuple[bytes, int]:
    """Return what a frame is, and how many bytes follow."""
    return head[:1], struct.unpack(">I", head[1:])[0]


def main(arguments: list[str]) -> int:
    """Run the server; its exit code."""
    command = arguments[1:] if arguments[:1] == ["--"] else arguments
    if not command:
        print("agentmut.mcp_proxy: give the command of the tool server", file=sys.stderr)
        return 2
    address = os.environ.get(VARIABLE) or next(_addresses_of_ancestors(os.getppid()), "")
    try:
        if not address:
            os.execvp(command[0], command)
        return _between(command, address)
    except OSError as error:
        print(f"agentmut.mcp_proxy: cannot run {command[0]!r}: {error.strerror or error}", file=sys.stderr)
        return 127


def _addresses_of_ancestors(pid: int) -> Iterator[str]:
    """Yield the addresses in the environments of parent processes: a client hands few of its variables to a server."""
    for _ in range(_FARTHEST):
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):  # not on this system, or another user's
            return
        prefix = f"{VARIABLE}=".encode()
        yield from (os.fsdecode(one[len(prefix) :]) for one in environment if one.startswith(prefix))


def _between(command: list[str], address: str) -> int:
    place, _, trial = address.partition("/")
    host, _, port = place.rpartition(":")
    with socket.create_connection((host, int(port))) as line:
        line.sendall(framed(TRIAL, trial.encode()))
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: server.terminate())
        try:
            return _carry(line, server)
        finally:
            _end(server)


def _carry(line: socket.socket, server: "subprocess.Popen[bytes]") -> int:
    """Return both ends to agentmut, until one of the three is gone."""
    assert server.stdin and server.stdout
    lock, stdin = threading.Lock(), server.stdin

    def send(side: bytes) -> Callable[[bytes], None]:
        def one(content: bytes) -> None:
            with lock:
                line.sendall(framed(side, content))

        return one

    def client_gone() -> None:
        send(END)(CLIENT)

    def server_gone() -> None:
        line.shutdown(socket.SHUT_WR)  # what was said before still comes back

    ends = ((sys.stdin.buffer, send(CLIENT), client_gone), (server.stdout, send(SERVER), server_gone))
    for end in ends:
        threading.Thread(target=_pump, args=end, daemon=True).start()
    for side, content in _frames(line.makefile("rb")):
        if side == CLIENT:
            _write_and_flush(sys.stdout.buffer, content + b"\n")
        elif side == SERVER:
            _write_and_flush(stdin, content + b"\n")
        elif content == CLIENT:
            stdin.close()  # as the client has closed its end; answers may still come
        else:
            print(f"agentmut.mcp_proxy: {content.decode()}", file=sys.stderr)
            return 1
    return _end(server)


def _pump(stream: IO[bytes], send: Callable[[bytes], None], gone: Callable[[], None]) -> None:
    try:
        for raw in stream:
            if content := raw.strip():
                send(content)
        gone()
    except (OSError, ValueError):  # the line to agentmut is gone: that is noticed where it is read
        return


def _frames(stream: IO[bytes]) -> Iterator[tuple[bytes, bytes]]:
    try:
        while len(head := stream.read(HEAD)) == HEAD:
            side, size = head_of(head)
            yield side, stream.read(size)
    except OSError:
        return


def _write_and_flush(stream: IO[bytes], content: bytes) -> None:
    try:
        stream.write(content)
        stream.flush()
    except (OSError, ValueError):  # that end is gone, which its own pump tells
        return


def _end(server: "subprocess.Popen[bytes]") -> int:
    if server.stdin and not server.stdin.closed:
        with suppress(OSError):
            server.stdin.close()
    for stop in (server.terminate, server.kill):
        try:
            return server.wait(GRACE)
        except subprocess.TimeoutExpired:
            stop()
    return server.wait()
