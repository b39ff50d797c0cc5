"""A folder's new contents arrive whole, or the old ones stay."""

import errno
import os
import signal
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from asv_watch.errors import WatchError
from asv_watch.site.swap import KEPT_TEXT, MANIFEST, swapped_in
from tests.site.conftest import tree


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "html"
    with swapped_in(folder) as fresh:
        fill(fresh, "old")
    return folder


def fill(fresh: Path, age: str = "new") -> None:
    (fresh / "data").mkdir()
    for name in (MANIFEST, "index.html", f"{age}.js", "data/index.js"):
        (fresh / name).write_text(f"{age} {name}")


def before_rename(number: int, act: Callable[[], None]) -> Callable[[Any, Any], None]:
    """Return a rename that acts right before one of its calls, counted from 1."""
    rename, calls = os.rename, count(1)

    def renamed(source: Any, target: Any) -> None:
        if next(calls) == number:
            act()
        rename(source, target)

    return renamed


@pytest.mark.parametrize("at", range(1, 9))
def test_a_failure_at_any_step_of_the_swap_is_rolled_back(
    site: Path, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(site)
    full = Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    monkeypatch.setattr(os, "rename", before_rename(at, full))
    with pytest.raises(WatchError, match="No space left"), swapped_in(site) as fresh:
        fill(fresh)
    assert tree(site) == before


@pytest.mark.parametrize("at", range(1, 9))
def test_after_a_kill_at_any_step_of_the_swap_the_next_one_succeeds(site: Path, at: int) -> None:
    killed = os.fork()
    if not killed:
        strike = before_rename(at, lambda: os.kill(os.getpid(), signal.SIGKILL))
        os.rename = strike  # type: ignore[assignment]
        with swapped_in(site) as fresh:
            fill(fresh)
        os._exit(0)
    inode = site.stat().st_ino
    _, status = os.waitpid(killed, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    with pytest.raises(ValueError, match="halfway"), swapped_in(site) as fresh:
        raise ValueError("halfway")  # an attempt that fails must not block the next one either
    with swapped_in(site) as fresh:
        fill(fresh)
    names = MANIFEST, "index.html", "new.js", "data/index.js"
    new = {name: f"new {name}".encode() for name in names}
    assert tree(site) == new | {".gitignore": KEPT_TEXT.encode()}
    assert not (site / ".publishing").exists()
    assert site.stat().st_ino == inode, "a server goes on serving it"
