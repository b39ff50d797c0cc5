"""axe-core from npm, kept in a cache folder outside the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.browser.visitor import Visitor

VERSION = "4.10.3"
ROOT = Path(__file__).parents[2]


def axe_source() -> str:
    """The text of axe-core, installed into the cache on first use."""
    local = ROOT / "node_modules" / "axe-core" / "axe.min.js"
    if local.exists():
        return local.read_text()
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    cache = base / "torchspeed" / f"axe-core-{VERSION}"
    file = cache / "node_modules" / "axe-core" / "axe.min.js"
    if not file.exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.fail(
                "the accessibility tests need axe-core from npm, and there is no npm: "
                "install the Debian package `npm` (apt install npm), then run them again",
                pytrace=False,
            )
        cache.mkdir(parents=True, exist_ok=True)
        flags = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]
        done = subprocess.run(
            [npm, "install", *flags, str(cache), f"axe-core@{VERSION}"],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        if not file.exists():
            pytest.fail(
                f"npm could not install axe-core {VERSION} into {cache}: "
                f"{done.stderr.strip()[-300:]}; connect to the network once, or run "
                "`npm install --no-save axe-core` in the repository",
                pytrace=False,
            )
    return file.read_text()


EVERYTHING = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(visitor: Visitor, rules: list[str] = EVERYTHING) -> list[str]:
    """What axe has against the view that is shown, in its surroundings."""
    result: dict[str, Any] = visitor.page.evaluate(
        """rules => axe.run(document, {
          runOnly: rules, resultTypes: ['violations'], performanceTimer: false,
        })""",
        rules,
    )
    return [
        f"{violation['id']}: {violation['help']} {node['html'][:160]} {node['target']}"
        for violation in result["violations"]
        for node in violation["nodes"][:2]
    ]
