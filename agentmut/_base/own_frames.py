"""The place in the user's own code where an exception was raised."""

import sysconfig
import traceback
from pathlib import Path

_LIBRARIES = tuple(
    {str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "purelib", "platlib")}
)


def own_place(error: BaseException) -> str:
    """Return `file:line in function` of the user's innermost code that an exception passed; empty without such code.

    Code of Python, of installed packages and of agentmut is not the user's. The file is relative to the working
    directory where it stands below it.
    """
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if _is_own(file, str(frame.f_globals.get("__name__", ""))):
            found = f"{_relative_path(file)}:{line} in {frame.f_code.co_name}"
    return found


def _is_own(file: str, module: str) -> bool:
    library = file.startswith(("<", *_LIBRARIES))
    return not library and module.partition(".")[0] != "agentmut"


def _relative_path(file: str) -> str:
    path, here = Path(file).resolve(), Path.cwd().resolve()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
