"""Tests without a network: `python -m tests.offline [ARGUMENTS OF PYTEST]`, as root on Linux.

The tests run in a network namespace of their own. It has loopback, and one interface that leads nowhere and counts what
is sent to it: a look-up of a name, or a connection to any other machine, is a packet there. Ends with 1 where a test
fails, or a packet was sent. Without arguments a part of the suite runs: commands, services, recordings.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

CLONE_NEWNET = 0x40000000
NOWHERE, END = "nowhere0", "nowhere1"
PART = ("tests/wire", "tests/trial", "tests/recording", "tests/adapters", "tests/report", "-m", "not browser")
"""What is tested where nothing is asked for: whatever talks to services, or writes pages."""


def leave_the_network() -> None:
    """Move this process, and all that it starts, to a network that ends here. Raises `OSError` where it may not."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "a network namespace takes root, or CAP_SYS_ADMIN, on Linux")
    for kind in ("default", "all"):  # IPv6 would say hello to its neighbours
        Path(f"/proc/sys/net/ipv6/conf/{kind}/disable_ipv6").write_text("1")
    Path("/proc/sys/net/ipv6/conf/lo/disable_ipv6").write_text("0")
    for command in (
        "link set lo up",
        f"link add {NOWHERE} type veth peer name {END}",
        f"link set {END} up",
        f"address add 192.0.2.1/24 dev {NOWHERE}",
        f"link set {NOWHERE} up arp off",
        f"route add default dev {NOWHERE}",
    ):
        subprocess.run(["ip", *command.split()], check=True)


def packets() -> int:
    """Return how many packets were sent to no other machine."""
    line = next(line for line in Path("/proc/net/dev").read_text().splitlines() if f"{NOWHERE}:" in line)
    return int(line.partition(":")[2].split()[9])


def _asked(arguments: list[str]) -> list[str]:
    """Return the arguments; options alone are about the usual part."""
    named = any(Path(argument.partition("::")[0]).exists() for argument in arguments)
    return arguments if named else [*arguments, *PART]


def main(arguments: list[str]) -> int:
    """Run the tests; say what was sent."""
    if shutil.which("ip") is None:
        print("the command `ip` is missing: install iproute2", file=sys.stderr)
        return 2
    try:
        leave_the_network()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"no network namespace: {error}", file=sys.stderr)
        return 2
    before = packets()
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *_asked(arguments)], env=environment, check=False
    ).returncode
    sent = packets() - before
    print(f"{sent} packets were sent to another machine")
    return tested or min(1, sent)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
