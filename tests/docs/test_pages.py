"""The pages hold together: links, length, pictures, and what code and pages say of each other."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from asv.config import Config

from asv_watch.asv.settings import read_configuration
from tests.conftest import git, run
from tests.docs.pages import ROOT, Page, pages

PAGES = pages()
DOCS = (ROOT / "docs", ROOT / "packages/asv-watch/docs")
MOST_LINES = 150
MOST_LINES_OF_README = 90
MOST_LINES_OF_RECIPE = 50  # a screen
LARGEST_PICTURE = 200_000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Page) -> None:
    for link in page.links():
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.path.parent / name).resolve() if name else page.path
        assert target.exists(), f"{page.name}: {link}"
        if anchor and target.suffix == ".md":
            assert anchor in Page(target).anchors(), f"{page.name}: {link}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_short(page: Page) -> None:
    most = MOST_LINES_OF_README if page.name == "README.md" else MOST_LINES
    if page.path.parent.name == "recipes":
        most = MOST_LINES_OF_RECIPE
    if page.path.name != "CHANGELOG.md":
        assert len(page.text.splitlines()) <= most


def test_every_page_is_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        path = waiting.pop()
        if path in reached or path.suffix != ".md":
            continue
        reached.add(path)
        for link in Page(path).links():
            target = (path.parent / link.partition("#")[0]).resolve()
            if target.is_dir():
                waiting += target.glob("*.md")
            elif target.exists():
                waiting.append(target)
    assert [page.name for page in PAGES if page.path not in reached] == []


def test_every_picture_is_shown_and_small() -> None:
    shown = {(page.path.parent / link).resolve() for page in PAGES for link in page.links()}
    for docs in DOCS:
        for picture in docs.rglob("images/*.png"):
            assert picture in shown, picture
            assert picture.stat().st_size < LARGEST_PICTURE, picture


def test_pages_that_code_names_exist() -> None:
    """In asv-watch a name begins at its own folder, elsewhere at that of the checkout."""
    pattern = r"[a-z/-]*docs/[a-z_/-]+\.md"
    for folder in (docs.parent for docs in DOCS):
        inside = [":!*.md", ":!packages"] if folder == ROOT else [":!*.md"]
        named = git(folder, "grep", "-hoE", pattern, "--", ".", *inside)
        for name in set(named.split()) - {"docs/a.md", "docs/index.md"}:  # of projects of tests
            assert (folder / name).is_file(), name


def test_pages_say_how_much_disk_an_environment_is_checked_for() -> None:
    size = round(read_configuration(ROOT).declared.environment_gib)
    statements = {
        "README.md": [rf"make bench .* {size} GB", rf"two releases, {2 * size} GB"],
        "docs/start.md": [rf"once, {size} GB in all"],
        "packages/asv-watch/docs/compare.md": [rf"{size} GB with torch"],
        "packages/asv-watch/docs/releases.md": [rf"{size} GB each with torch"],
    }
    for name, patterns in statements.items():
        for pattern in patterns:
            assert re.search(pattern, Page(ROOT / name).text), f"{name}: {pattern}"


def test_the_readme_adds_the_plugin_to_the_configuration_that_asv_writes(tmp_path: Path) -> None:
    asv = [sys.executable, "-m", "asv", "quickstart", "--dest", ".", "--top-level"]
    run(*asv, cwd=tmp_path)
    readme = (ROOT / "README.md").read_text("utf-8")
    section = readme.partition("## Watch your own asv project")[2].partition("\n## ")[0]
    [line] = re.findall(r'^# Write ("plugins": .*,) after the first \{ of', section, re.MULTILINE)
    configuration = tmp_path / "asv.conf.json"
    configuration.write_text(
        configuration.read_text("utf-8").replace("{", f"{{\n{line}", 1), "utf-8"
    )
    assert Config.load(str(configuration)).plugins == [".asv_watch"]
