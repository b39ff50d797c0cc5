"""Publishes histories that other asv projects have published with their results.

Each history is copied into a folder of its own below ``--into``, updated to today's format of
results, published with the plugin and, with ``--look``, opened view by view in Chromium: errors of
the page's script are printed, and a screenshot of each view is stored. Nothing is written to the
sources, nor into this repository::

    python tools/publish_histories.py --into /tmp/histories --look RESULTS=PROJECT ...

Both repositories are folders or addresses that git can clone; a project that keeps its results
itself is named once, without ``=``. The exit status is 1 if a history was not published whole or
the page had errors.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from asv_watch.asv.settings import load_settings

VIEWS = ("", "all-changes", "changes", "timeline", "compare", "releases", "status", "about")
"""Fragments of the page's views, after ``#/``."""
_WIDTHS = (1280, 390)
"""Pixels of a screen and of a telephone."""
_SETTLE = 1500  # ms until a view has loaded its data and drawn it


@dataclass(frozen=True, slots=True)
class SharedHistory:
    """A history to publish."""

    results: str
    """Repository that holds the results."""
    project: str
    """Repository whose commits they are of."""

    @property
    def name(self) -> str:
        """Folder of the history: the last words of the repository's address."""
        parts = re.sub(r"(/repo|\.git|/)+$", "", self.results).split("/")
        return parts[-1]


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def _clone(repository: str, folder: Path, *options: str) -> None:
    """Clone all branches of a repository, folder or address, unless that was done before."""
    if folder.exists():
        return
    try:
        _git("clone", "--quiet", *options, repository, str(folder))
    except subprocess.CalledProcessError as error:
        shutil.rmtree(folder, ignore_errors=True)
        last = error.stderr.strip().splitlines()[-1]
        sys.exit(f"{repository} cannot be cloned: {last}")


def _results_folders(checkout: Path) -> list[Path]:
    """Folders of the checkout that hold a ``benchmarks.json`` and results of a machine."""
    return sorted(
        path.parent
        for path in checkout.rglob("benchmarks.json")
        if any(path.parent.glob("*/machine.json"))
    )


def _settings(checkout: Path) -> dict[str, str]:
    """Return the settings of the project that its pages need; empty where it publishes none."""
    for path in sorted(checkout.rglob("asv.conf.json")):
        settings = load_settings(path.parent)
        wanted = ("project", "project_url", "show_commit_url")
        return {name: str(getattr(settings, name)) for name in wanted}
    return {}


def prepare(source: SharedHistory, into: Path) -> Path:
    """Copy a history into a folder with an asv.conf.json that publishes it.

    Returns:
        The folder.

    Raises:
        SystemExit: The repository holds no results.
    """
    folder = into / source.name
    _clone(source.results, folder / "source")
    _clone(source.project, folder / "project", "--bare")
    result = _results_folders(folder / "source")
    if not result:
        sys.exit(f"{source.results} holds no folder of asv results with a benchmarks.json")
    fullest = max(result, key=lambda results: len(list(results.glob("*/*.json"))))
    shutil.rmtree(folder / "results", ignore_errors=True)
    shutil.copytree(fullest, folder / "results")
    head = _git("-C", str(folder / "project"), "symbolic-ref", "--short", "HEAD")
    settings = {
        "version": 1,
        "project": source.name,
        "environment_type": "virtualenv",
        **_settings(folder / "source"),
        "repo": "project",
        "branches": [head],
        "results_dir": "results",
        "html_dir": "html",
        "plugins": [".asv_watch"],
    }
    (folder / "asv.conf.json").write_text(json.dumps(settings, indent=1), encoding="utf-8")
    return folder


def publish(folder: Path) -> bool:
    """Bring the results up to date and publish them; whether all of them are on the pages."""
    for command in (["update"], ["publish", "--no-pull"]):
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "asv", *command],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.monotonic() - started
        print(f"asv {command[0]}: status {done.returncode}, {seconds:.1f} s")
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        if command[0] == "publish" or done.returncode:
            print("\n".join(f"  {line}" for line in lines[-15:]))
        if done.returncode:
            return False
    return True


def look(folder: Path) -> bool:
    """Open every view at both widths; print the page's errors; whether there were none."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only here

    errors: list[str] = []
    pictures = folder / "screenshots"
    pictures.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        for width in _WIDTHS:
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.on(
                "console",
                lambda message: errors.append(message.text) if message.type == "error" else None,
            )
            address = (folder / "html" / "index.html").resolve().as_uri()
            for view in VIEWS:
                page.goto(f"{address}#/{view}")
                page.wait_for_timeout(_SETTLE)
                wide = page.evaluate("document.documentElement.scrollWidth") - width
                if wide > 0:
                    errors.append(f"#/{view} is {wide} px wider than a screen of {width} px")
                name = f"{view or 'overview'}-{width}.png"
                page.screenshot(path=pictures / name, full_page=True)
        browser.close()
    for error in dict.fromkeys(errors):
        print(f"  {error}")
    return not errors


def main(arguments: list[str] | None = None) -> int:
    """Publish the histories that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sources", nargs="+", metavar="RESULTS[=PROJECT]")
    parser.add_argument("--into", type=Path, required=True, help="folder for the copies and sites")
    parser.add_argument("--look", action="store_true", help="open every view in Chromium")
    options = parser.parse_args(arguments)
    whole = True
    for text in options.sources:
        results, _, project = text.partition("=")
        source = SharedHistory(results, project or results)
        print(f"== {source.name}", flush=True)
        folder = prepare(source, options.into)
        published = publish(folder)
        whole &= published and (not options.look or look(folder))
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
