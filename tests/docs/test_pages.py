"""The pages hold together: links, length, pictures, and what code and pages say of each other."""

import re
import tomllib
from pathlib import Path

import pytest

import asv_watch
from asv_watch.asv.settings import read_configuration
from tests.conftest import ROOT, git
from tests.docs.pages import Page, pages

PAGES = pages()
DOCS = (ROOT / "docs", ROOT / "packages/asv-watch/docs")
MOST_LINES = 150
MOST_LINES_OF_README = 80
MOST_WORDS = 14_000
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
    if page.path.name != "CHANGELOG.md":
        assert len(page.text.splitlines()) <= most


def test_all_pages_together_are_short() -> None:
    read = [page for page in PAGES if page.path.name not in {"CHANGELOG.md", "CONTRIBUTING.md"}]
    words = sum(bool(re.search(r"\w", word)) for page in read for word in page.text.split())
    assert words <= MOST_WORDS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_opens_with_what_its_reader_knows_after_it(page: Page) -> None:
    if "docs" in Path(page.name).parts:
        assert re.match(r"# .+\n\nAfter this page ", page.text)


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
        "README.md": rf"make bench .* {size} GB",
        "docs/start.md": rf"once, {size} GB in all",
        "packages/asv-watch/docs/compare.md": rf"{size} GB with torch",
        "packages/asv-watch/docs/releases.md": rf"{size} GB each with torch",
    }
    for name, pattern in statements.items():
        assert re.search(pattern, Page(ROOT / name).text), f"{name}: {pattern}"


def test_the_readme_names_the_versions_of_both_packages() -> None:
    own = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    said = f"torchspeed is at version {own} and asv-watch at {asv_watch.__version__}."
    assert said in Page(ROOT / "README.md").text


def test_the_address_of_the_site_is_all_that_is_left_to_fill_in() -> None:
    assert re.findall(r"<[a-z][\w ]+>", Page(ROOT / "README.md").text) == ["<address of the site>"]
