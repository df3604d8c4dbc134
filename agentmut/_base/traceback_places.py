"""Where the threads of a process are, read from what `faulthandler` writes."""

import os
import re

_FRAME = re.compile(r'File "([^"]*)", line (\d+) in (\S+)')


def users_places(traces: str) -> str:
    """Return `file:line in function` of each thread's innermost code that is neither Python's nor agentmut's.

    `traces` is what `faulthandler` writes.

    >>> users_places('Thread 0x1 (most recent call first):\\n  File "/my/judge.py", line 3 in judge\\n')
    '/my/judge.py:3 in judge'
    """
    found = (_users_frame(_FRAME.findall(thread)) for thread in traces.split("hread 0x")[1:])
    places = [f"{file}:{line} in {name}" for file, line, name in filter(None, found)]
    return ", ".join(dict.fromkeys(places))


def _users_frame(frames: list[tuple[str, str, str]]) -> tuple[str, str, str] | None:
    """Return a thread's innermost frame that is neither Python's nor agentmut's, nor of what calls agentmut."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120  (a Path takes longer, and a process may be ending)
    library = os.path.dirname(os.__file__)  # noqa: PTH120
    in_agentmut = False
    for frame in frames:
        if frame[0].startswith(here):
            in_agentmut = True
        elif "site-packages" in frame[0]:
            if not in_agentmut:
                return frame
        elif in_agentmut and frame[2] == "<module>":  # the script that starts the command
            continue
        elif not frame[0].startswith((library, "<")):
            return frame
    return None
