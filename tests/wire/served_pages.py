"""What a program of verbs adds to its folder: every response of pages that a command serves, and of pytest."""

PAGES = """
import re, subprocess, time
from http.client import HTTPConnection
from urllib.parse import urlsplit

def asked(address, path, method="GET"):
    parts = urlsplit(address)
    connection = HTTPConnection(parts.hostname, parts.port, timeout=60)
    try:
        connection.request(method, parts.path + path)
        reply = connection.getresponse()
        return f"{reply.status} {dict(reply.getheaders())}\\n" + reply.read().decode()
    except OSError:
        return ""  # the command has ended

def saved(name, text):
    Path(f"served-{name}.txt").write_text(text)

def address_of(process, name):
    until = time.monotonic() + 120
    while time.monotonic() < until:
        found = re.search(r"http://127[.]0[.]0[.]1:[0-9]+/[\\w-]+/", Path(f"{name}.out").read_text())
        if found:
            return found[0]
        assert process.poll() is None, Path(f"{name}.out").read_text()
        time.sleep(0.02)
    raise AssertionError(f"{name} served no page")

def serving(name, *arguments):
    with open(f"{name}.out", "w") as out:
        command = [sys.executable, "-m", "agentmut", *arguments]
        return subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)

def live(*arguments):
    "Fetch the live page of a run, and each of its states until its end; return their number."
    process, states = serving("live", *arguments), []
    address = address_of(process, "live")
    saved("live-page", asked(address, ""))
    wrong = [asked(address, "other"), asked(address.rsplit("/", 2)[0], "/wrong/"), asked(address, "", "PUT")]
    saved("live-wrong", "".join(wrong))
    while process.poll() is None:
        state = asked(address, "state")
        if state and state not in states:
            states.append(state)
        time.sleep(0.05)
    saved("live-states", "\\n".join(states))
    assert process.returncode in (0, 1, 3), Path("live.out").read_text()
    return len(states)

def team(*arguments):
    "Fetch every page of `serve`; return their number."
    process = serving("team", "serve", *arguments, "--port", "0")
    try:
        address, left, seen = address_of(process, "team"), [""], set()
        while left:
            path = left.pop()
            page = asked(address, path)
            seen.add(path)
            saved(f"team-{len(seen)}", page)
            for link in re.findall(r'href="([^"#:]+)', page):
                target = "/".join([*path.split("/")[:-1], link])
                while "../" in target:
                    target = re.sub(r"[^/]*/[.][.]/", "", target, count=1)
                left += [target] if target not in seen and target not in left else []
        return len(seen)
    finally:
        process.terminate()
        process.wait()

def tested(*arguments):
    "Run pytest with the plugin; its output is kept."
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    saved("pytest-" + str(len(list(Path().glob("served-pytest-*")))), done.stdout.decode())
    return done.returncode
"""
"""Functions for a program that has imported json, sys and Path."""
