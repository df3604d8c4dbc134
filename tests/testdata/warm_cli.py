"""`agentmut` in a process that was forked from one with everything imported: starting is most of a short command.

`warm_cli.py serve SOCKET OWNER` is that one, until the process OWNER is gone. `warm_cli.py ARGUMENTS...` is a command,
in the folder, with the environment and the files of its own; `warm_cli.py -c PROGRAM ARGUMENTS...` is a program.
SIGINT and SIGTERM are handed on. Without `AGENTMUT_WARM` in its environment, which names the socket, it starts as ever.
"""

import array
import gc
import json
import os
import select
import shutil
import signal
import socket
import sys
import time

VARIABLE = "AGENTMUT_WARM"
POLL = 0.01
PATIENCE = 600.0
"""Seconds until the socket has to be there."""
COLD = "from agentmut.cli import main; main()"


def client(path: str) -> int:
    """Hand the command over; end as it ends."""
    told = {"arguments": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}  # noqa: PTH109
    with connected(path) as connection:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: connection.send(bytes([number])))
        files = array.array("i", [0, 1, 2])
        connection.sendmsg([b"f"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        connection.sendall(json.dumps(told).encode() + b"\n")
        return int(connection.makefile().read())


def connected(path: str) -> socket.socket:
    """A connection, once there is a socket."""
    until = time.monotonic() + PATIENCE
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            if time.monotonic() > until or not os.path.isdir(os.path.dirname(path)):  # noqa: PTH112, PTH120
                raise
            time.sleep(POLL)
        else:
            return connection


def serve(path: str, owner: int) -> None:
    """Fork for each connection until the owner is gone."""
    warm_up()
    gc.freeze()  # or the first collection of each fork copies everything
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        while lives(owner):
            if not select.select([listener], [], [], 1.0)[0]:
                continue
            connection, _ = listener.accept()
            reap()
            if not os.fork():
                listener.close()
                attend(connection)
                return
            connection.close()


def lives(process: int) -> bool:
    """Whether there is such a process."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def reap() -> None:
    """Forget those that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def attend(connection: socket.socket) -> None:
    """Run the command in a process of its own, which ends with it, or when the client has gone."""
    size = array.array("i").itemsize
    _, control, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(3 * size))
    files = array.array("i", control[0][2])
    order = json.loads(connection.makefile().readline())
    command = os.fork()
    if not command:
        connection.close()
        become(order, files)
    for file in files:
        os.close(file)
    while True:
        ended, status = os.waitpid(command, os.WNOHANG)
        if ended:
            connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
            os._exit(0)
        if select.select([connection], [], [], POLL)[0]:
            told = connection.recv(1)
            os.kill(command, told[0] if told else signal.SIGKILL)
            if not told:
                os._exit(1)


def become(told: dict, files: array.array) -> None:
    """Be the command, to its end."""
    import random

    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(told["folder"])
    os.environ.clear()
    os.environ.update(told["environment"])
    if told["arguments"][:1] != ["simulate"]:  # the command that it runs is one more to be forked
        os.environ.pop(VARIABLE)
    sys.argv = ["-c", *told["arguments"]]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdin, sys.stdout = open(0), open(1, "w", buffering=1 if os.isatty(1) else -1)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115
    random.seed()
    os._exit(run())  # taking the interpreter down costs more than many a command


def run() -> int:
    """The command's exit code, once what it left to be done at exit is done."""
    import atexit
    import threading
    import traceback

    from agentmut.cli import main

    code: object = 1
    try:
        if sys.argv[1:2] == ["-c"]:
            program, sys.argv = sys.argv[2], ["-c", *sys.argv[3:]]
            exec(program, {"__name__": "__main__"})
        else:
            main()
        code = 0
    except SystemExit as left:
        code = left.code
    except BaseException:
        traceback.print_exc()
    threading._shutdown()
    atexit._run_exitfuncs()
    if isinstance(code, str):
        print(code, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else int(code is not None)


def warm_up() -> None:
    """Import what commands import, and read the dictionaries that operators read."""
    import importlib
    from importlib.metadata import entry_points

    from agentmut.cli import VERBS
    from agentmut.mutation.generation import generate
    from agentmut.nouns.config import AgentConfig
    from agentmut.seams.protocols.operator import OperatorOptions

    for verb in VERBS:
        importlib.import_module(f"agentmut.cli.verbs.{verb}_verb")
    for name in (
        "agentmut.adapters.python_callable",
        "agentmut.report.terminal.run_page",
        "agentmut.report.terminal.mutant_page",
        "agentmut.usecases.campaigns",
        "agentmut.report.terminal.mutant_diff",
        "agentmut.report.terminal.verdicts_page",
        "agentmut.simulator.service.server",
        "agentmut.usecases.suite_verdicts",
        "agentmut.wire.carriers.transport",
        "agentmut.wire.carriers.proxy.gateway",
        "httpx",
        "httpx2",
        "scipy.stats",
        "agentmut.campaign.running.loop",
        "agentmut.stats.kill.characteristics",
        "agentmut.campaign.shards.merge",
        "rich.console",
        "agentmut.cli.verbs.relating",
        "agentmut.relating.survivor_check",
        "agentmut.adapters.langgraph.adapter",
        "langchain.agents",
        "langchain_openai",
        "openai.resources.chat.completions",
    ):
        importlib.import_module(name)
    operators = [entry.load()() for entry in entry_points(group="agentmut.operators")]
    generate(
        AgentConfig(prompt="Always greet the user. Be brief, and never lie before noon."),
        operators,
        OperatorOptions(),
    )
    for entry in entry_points(group="agentmut.evaluators"):
        entry.load()


def start() -> int:
    """As the arguments say."""
    if sys.argv[1:2] == ["--fork-for"]:
        try:
            serve(sys.argv[2], int(sys.argv[3]))
        finally:  # without the folder no command waits for a process that cannot start
            shutil.rmtree(os.path.dirname(sys.argv[2]))  # noqa: PTH120
        return 0
    path = os.environ.get(VARIABLE)
    if path:
        return client(path)
    program = sys.argv[1:] if sys.argv[1:2] == ["-c"] else ["-c", COLD, *sys.argv[1:]]
    os.execv(sys.executable, [sys.executable, *program])


if __name__ == "__main__":
    sys.exit(start())
