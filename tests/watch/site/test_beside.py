"""Work in a process of its own: done when the block ends, and its failures are ours."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from torchspeed.errors import TorchspeedError
from torchspeed.watch.site.beside import beside


def test_the_work_is_done_when_the_block_ends(tmp_path: Path) -> None:
    def work() -> None:
        time.sleep(0.2)
        (tmp_path / "done").write_text(str(os.getpid()))

    with beside(work):
        assert not (tmp_path / "done").exists()
    assert int((tmp_path / "done").read_text()) != os.getpid()


def test_its_failure_is_raised_here() -> None:
    def work() -> None:
        raise TorchspeedError("no such thing")

    with pytest.raises(TorchspeedError, match="no such thing"), beside(work):
        pass


def test_an_error_of_the_file_system_keeps_its_kind(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), beside((tmp_path / "missing").read_bytes):
        pass


def test_being_killed_is_said() -> None:
    def work() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(TorchspeedError, match="status -9"), beside(work):
        pass


def test_it_does_not_outlive_a_failure_of_the_block(tmp_path: Path) -> None:
    def work() -> None:
        time.sleep(1.0)
        (tmp_path / "late").touch()

    with pytest.raises(ValueError, match="ours"), beside(work):
        raise ValueError("ours")
    time.sleep(1.2)
    assert not (tmp_path / "late").exists()
