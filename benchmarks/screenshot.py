"""`python -m benchmarks.screenshot REPORT.html PICTURE.png`: the top of a report's page, as the README shows it.

`make screenshot` measures the example support desk, writes its page, and takes docs/images/report-html.png of it.
"""

import shutil
import sys
from pathlib import Path

WIDTH, HEIGHT = 1100, 760
"""Size of the picture in pixels."""
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


def take(report: Path, picture: Path) -> None:
    """Write the picture of a page as a browser shows it in the light theme. Raises `SystemExit` without Chromium."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("there is no Chromium here: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce", color_scheme="light"
        )
        page.goto(report.resolve().as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
