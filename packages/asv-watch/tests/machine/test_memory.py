"""The memory that a case may use: of the machine, or of the container that it is in."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from asv_watch.errors import WatchError
from asv_watch.machine.memory import GIB, MEMORY_LIMIT, available_memory, memory_limit


@pytest.mark.parametrize(
    ("own", "files", "gib"),
    [
        ("0::/", {"memory.max": f"{GIB // 2}\n"}, 0.5),
        ("0::/a/b", {"a/memory.max": f"{GIB // 4}\n", "a/b/memory.max": "max\n"}, 0.25),
        ("4:memory:/docker/x", {"memory/memory.limit_in_bytes": f"{GIB // 2}\n"}, 0.5),
        (
            "5:cpu:/x\n4:cpuset,memory:/x",
            {
                "memory/memory.limit_in_bytes": "9223372036854771712\n",
                "memory/x/memory.limit_in_bytes": f"{GIB // 8}\n",
            },
            0.125,
        ),
    ],
)
def test_the_limit_of_a_container_is_read_from_both_versions_of_cgroups(
    tmp_path: Path, own: str, files: dict[str, str], gib: float
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "own").write_text(f"{own}\n")
    assert available_memory(tmp_path, tmp_path / "own") == gib * GIB


def test_without_a_container_it_is_the_memory_of_the_machine(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert available_memory(tmp_path, missing) == psutil.virtual_memory().total


def test_sides_share_the_memory_and_a_person_gives_it_to_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(MEMORY_LIMIT, raising=False)
    assert memory_limit(2) == pytest.approx(memory_limit() / 2)
    monkeypatch.setenv(MEMORY_LIMIT, "1.5")
    assert memory_limit(2) == 1.5 * GIB
    monkeypatch.setenv(MEMORY_LIMIT, "lots")
    with pytest.raises(WatchError, match="is 'lots'; give a number of GiB above 0"):
        memory_limit()
