"""Takes the picture of a pull request's comment that the README shows.

    asv-watch gate --base main --comment gate.md
    python -m tests.browser.comment_picture gate.md docs/images/pull-request.png

The picture shows the Markdown that the gate wrote, as GitHub lays it out. Needs Chromium.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from markdown_it import MarkdownIt
from playwright.sync_api import sync_playwright

from tests.browser.visitor import FLAGS, chromium

WIDTH = 900
STYLE = """
body { font: 14px/1.5 sans-serif; color: #1f2328; margin: 16px; }
article { border: 1px solid #d1d9e0; border-radius: 6px; }
header { background: #f6f8fa; border-bottom: 1px solid #d1d9e0; padding: 8px 16px; }
main { padding: 0 16px; }
code { font: 12px monospace; background: #eff1f3; border-radius: 6px; padding: 2px 5px; }
table { border-collapse: collapse; margin: 12px 0; }
th, td { border: 1px solid #d1d9e0; padding: 6px 13px; text-align: left; }
"""


def page_of(comment: str) -> str:
    """Return the HTML page that shows a comment, which is Markdown."""
    text = MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(comment)
    return (
        f'<!doctype html><meta charset="utf-8"><style>{STYLE}</style>'
        "<article><header><b>github-actions</b> bot commented</header>"
        f"<main>{text}</main></article>"
    )


def take(comment: str, picture: Path) -> None:
    """Write the picture of a comment."""
    with sync_playwright() as driver:
        program, environment = chromium()
        browser = driver.chromium.launch(executable_path=program, args=FLAGS, env=environment)
        page = browser.new_page(viewport={"width": WIDTH, "height": 100}, color_scheme="light")
        page.set_content(page_of(comment))
        page.screenshot(path=picture, full_page=True)
        browser.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("comment", type=Path, help="file that `asv-watch gate --comment` wrote")
    parser.add_argument("picture", type=Path, help="PNG file to write")
    wanted = parser.parse_args()
    if not wanted.comment.is_file():
        print(f"there is no {wanted.comment}: asv-watch gate --comment writes it", file=sys.stderr)
        return 1
    take(wanted.comment.read_text(encoding="utf-8"), wanted.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
