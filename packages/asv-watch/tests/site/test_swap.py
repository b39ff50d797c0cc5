"""A folder's new contents arrive whole, or the old ones stay."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from asv_watch.errors import WatchError
from asv_watch.site.swap import KEPT_TEXT, MANIFEST, swapped_in
from tests.site.conftest import tree


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "html"
    with swapped_in(folder) as fresh:
        for name in (MANIFEST, "index.html", "old.js"):
            (fresh / name).write_text(f"old {name}")
        (fresh / "data").mkdir()
        (fresh / "data" / "index.js").write_text("old data")
    return folder


def fill(fresh: Path) -> None:
    for name in (MANIFEST, "index.html", "new.js"):
        (fresh / name).write_text(f"new {name}")
    (fresh / "data").mkdir()
    (fresh / "data" / "index.js").write_text("new data")


def test_everything_is_replaced_and_the_folder_stays_the_same(site: Path) -> None:
    inode = site.stat().st_ino
    with swapped_in(site) as fresh:
        fill(fresh)
    assert tree(site) == {
        ".gitignore": KEPT_TEXT.encode(),
        MANIFEST: f"new {MANIFEST}".encode(),
        "data/index.js": b"new data",
        "index.html": b"new index.html",
        "new.js": b"new new.js",
    }
    assert site.stat().st_ino == inode


@pytest.mark.parametrize("at", range(1, 9))
def test_a_failure_at_any_step_of_the_swap_is_rolled_back(
    site: Path, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(site)
    rename = os.rename
    calls = 0

    def failing(source: Any, target: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == at:
            raise OSError(28, "No space left on device", str(target))
        rename(source, target)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(WatchError, match="No space left"), swapped_in(site) as fresh:
        fill(fresh)
    assert tree(site) == before


@pytest.mark.parametrize("at", range(1, 9))
def test_after_a_kill_at_any_step_of_the_swap_the_next_one_succeeds(site: Path, at: int) -> None:
    killed = os.fork()
    if not killed:  # the child: killed right before one of the renames
        rename, calls = os.rename, 0

        def striking(source: Any, target: Any) -> None:
            nonlocal calls
            calls += 1
            if calls == at:
                os.kill(os.getpid(), signal.SIGKILL)
            rename(source, target)

        os.rename = striking  # type: ignore[assignment]
        with swapped_in(site) as fresh:
            fill(fresh)
        os._exit(0)
    _, status = os.waitpid(killed, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    with pytest.raises(ValueError, match="halfway"), swapped_in(site) as fresh:
        raise ValueError("halfway")  # an attempt that fails must not block the next one either
    with swapped_in(site) as fresh:
        fill(fresh)
    assert tree(site)["index.html"] == b"new index.html"
    assert not (site / ".publishing").exists()
