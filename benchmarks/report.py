"""Times `agentmut report` of 5,000 mutants in every format, and how soon the HTML page is usable.

`python benchmarks/report.py` prints the figures next to their limits; exit code 1 where one is not kept. The page is
opened in Chromium, where that and Playwright are installed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from agentmut.nouns.result_file import write_result  # noqa: E402
from agentmut.seams.plugins import Group, names  # noqa: E402
from tests.report.large import MUTANTS, large_result  # noqa: E402

WRITTEN, SIZE, USABLE = 3.0, 10.0, 2.0
"""Limits: seconds to write the page, its megabytes, seconds until it can be used."""


def written(result: Path, page: Path, *options: str) -> float:
    """Return seconds that the command takes, the start of Python included."""
    command = [
        sys.executable,
        "-c",
        "from agentmut.cli import main; main()",
        "report",
        str(result),
        "--output",
        str(page),
        *options,
    ]
    started = time.perf_counter()
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    return time.perf_counter() - started


def usable(page: Path, chromium: str) -> float:
    """Return seconds from opening the page until it answers to its filters."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        tab = browser.new_page()
        tab.goto("about:blank")
        started = time.perf_counter()
        tab.goto(page.as_uri(), wait_until="commit")
        tab.wait_for_selector("html[data-ready]", state="attached")
        tab.fill("#filters [name=q]", "00000007")
        tab.get_by_text(f"1 of {MUTANTS:,} mutants").wait_for()
        taken = time.perf_counter() - started
        browser.close()
    return taken


def main() -> int:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        result = write_result(large_result(), Path(name))
        page = Path(name) / "report.html"
        seconds = min(written(result, page, "--format", "html") for _ in range(3))
        figures = [("written in", seconds, "s", WRITTEN), ("size", page.stat().st_size / 1e6, "MB", SIZE)]
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        try:
            figures += [("usable in Chromium after", usable(page, chromium), "s", USABLE)] if chromium else []
        except ImportError:
            chromium = None
        for what, value, unit, limit in figures:
            print(f"html report of {MUTANTS:,} mutants: {what} {value:.2f} {unit} (limit {limit:g})")
        if chromium is None:
            print("not opened in a browser: install Chromium, and Playwright with `pip install playwright`")
        others = other_formats(result, Path(name))
    return int(any(value > limit for _, value, _, limit in figures) or max(others) > WRITTEN)


def other_formats(result: Path, folder: Path) -> list[float]:
    """Return seconds that each other format takes, and the comparison with another result; printed."""
    older = write_result(large_result(seed=2).model_copy(update={"run_id": "older"}), folder / "older")
    kinds: list[tuple[str, ...]] = [
        ("--format", name) for name in names(Group.REPORT_FORMATS) if name != "html"
    ]
    kinds.append(("--format", "markdown", "--compare", str(older)))
    taken = []
    for options in kinds:
        written_to = folder / "other"
        taken.append(min(written(result, written_to, *options) for _ in range(2)))
        said, size = " ".join(options).replace(str(older), "RUN"), written_to.stat().st_size / 1e6
        print(f"report of {MUTANTS:,} mutants, {said}: {taken[-1]:.2f} s (limit {WRITTEN:g}), {size:.2f} MB")
    return taken


if __name__ == "__main__":
    sys.exit(main())
