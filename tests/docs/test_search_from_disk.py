"""The site's search works where its pages are opened from disk: index and shim are scripts beside them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]


class _Loader(yaml.SafeLoader):
    """Reads mkdocs.yml, whatever tags it has."""


_Loader.add_multi_constructor("tag:", lambda loader, suffix, node: None)


@pytest.mark.browser
@pytest.mark.process
def test_a_page_on_disk_finds_another_one_and_asks_nobody(tmp_path: Path) -> None:
    """A site of two pages with the plugins and scripts of ours: building the whole one takes three seconds."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    pytest.importorskip("mkdocs")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    docs = tmp_path / "docs"
    (docs / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "docs" / "scripts" / "iframe-worker.js", docs / "scripts")
    (docs / "index.md").write_text("# Start\n\nNothing here.\n")
    (docs / "other.md").write_text("# Marmalade\n\nAn orange word.\n")
    ours = yaml.load((ROOT / "mkdocs.yml").read_text(), _Loader)
    kept = {name: ours[name] for name in ("theme", "plugins", "extra", "use_directory_urls")}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump({"site_name": "two pages", **kept}))
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q"], cwd=tmp_path, check=True)
    with sync_api.sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"]).new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((tmp_path / "site" / "index.html").as_uri())
        found = page.locator(".md-search-result__link").first
        for _ in range(60):  # keys that come before the page's script are lost, so they are pressed again
            page.locator("input.md-search__input").fill("")
            page.locator("input.md-search__input").press_sequentially("marmalade")
            page.wait_for_timeout(500)
            if found.count():
                break
        assert "other.html" in (found.get_attribute("href") or "")
    assert {url.partition(":")[0] for url in asked} == {"file"}
