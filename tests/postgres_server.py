"""A real PostgreSQL server on loopback, in a folder that goes with it."""

import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

VARIABLE = "AGENTMUT_TEST_POSTGRES"
"""Names the folder with the server's programs; `make test-postgres` sets it."""
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",  # the machine stays on: kill -9 loses nothing
    "max_connections": "60",
    "shared_buffers": "32MB",
    "restart_after_crash": "on",
}


class PostgresServer:
    """A server for the block. Where root runs the tests, it runs as the user `postgres`, since it refuses root."""

    def __init__(self, programs: Path, template: Path | None = None, kilobytes: int | None = None) -> None:
        """`template` is the folder of a server that is not running; `kilobytes` is what a file has room for."""
        self._programs = programs
        self._template = template
        self._kilobytes = kilobytes
        self.folder = Path(tempfile.mkdtemp(prefix="agentmut-postgres-"))
        self.data = self.folder / "data"
        self.port = _free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """What another process knows: it can ask the server, and cannot stop it."""
        return {**vars(self), "process": None}

    def __enter__(self) -> Self:
        try:
            self._own(self.folder)
            self._run(
                "initdb", "-D", str(self.data), "-A", "trust", "-U", "agentmut", "-E", "UTF8", "--no-sync"
            )
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def prepare(self) -> None:
        """Make the files of a server, or copy those of the template."""
        self._own(self.folder)
        if self._template is None:
            self._run(
                "initdb", "-D", str(self.data), "-A", "trust", "-U", "agentmut", "-E", "UTF8", "--no-sync"
            )
        else:
            self._run("cp", "-a", str(self._template), str(self.data))

    def url(self, database: str = "postgres", user: str = "agentmut", options: str = "") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}{options}"

    def start(self) -> None:
        given = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        command = [str(self._programs / "postgres"), "-D", str(self.data), "-p", str(self.port), *given]
        if self._kilobytes is not None:
            command = ["bash", "-c", f'ulimit -f {self._kilobytes}; exec "$@"', "bash", *command]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, **self._user())
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with suppress(Exception):
                self.execute("select 1")
                return
            time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text("utf-8"))

    def stop(self) -> None:
        """Stop it at once, as a machine that is switched off would: kill -9 of every process."""
        if self.process is None:
            return
        children = _children(self.process.pid)
        for pid in (self.process.pid, *children):
            with suppress(ProcessLookupError):
                os.kill(pid, 9)
        self.process.wait()
        self.process = None
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def kill_one(self, rng: random.Random) -> None:
        """Kill -9 one process that serves a client: the server ends all connections and starts again by itself."""
        with suppress(Exception):
            busy = self.execute("select pid from pg_stat_activity where application_name = 'agentmut'")
            os.kill(int(rng.choice(busy)[0]), 9)

    def execute(self, *statements: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True, connect_timeout=30) as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def write(self, name: str, text: str) -> None:
        """Write a file into the folder of the server's data, as the server's own."""
        path = self.data / name
        path.write_text(text, "utf-8")
        path.chmod(0o600)
        self._own(path)

    def _run(self, program: str, *arguments: str) -> None:
        known = self._programs / program
        command = [str(known) if known.exists() else program, *arguments]
        done = subprocess.run(command, capture_output=True, cwd=self.folder, **self._user())
        if done.returncode:
            raise RuntimeError(done.stderr.decode())

    def _user(self) -> dict[str, Any]:
        return {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}

    def _own(self, path: Path) -> None:
        if os.geteuid() == 0:
            shutil.chown(path, "postgres", "postgres")


def programs() -> Path | None:
    """Return the folder of the server's programs, if tests are to use one."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else None


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _children(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(line) for line in listed.stdout.split()]
