"""axe-core from npm, kept in a cache folder outside the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

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
