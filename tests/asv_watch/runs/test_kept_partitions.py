"""What is kept from one publish for the next saves time and changes nothing."""

from __future__ import annotations

from pathlib import Path

from asv_watch.runs.change_points import Step, find_all_steps
from asv_watch.runs.kept_partitions import kept_partitions
from tests.asv_watch.labelled_series import make_set

SERIES = [labelled.values for labelled in make_set(1, 3, lengths=(100,))]


def find(folder: Path, count: int = 3) -> tuple[int, list[list[Step]]]:
    """The number of partitions that were kept, and the steps of some series."""
    with kept_partitions(folder) as known:
        return len(known), find_all_steps(SERIES[:count], known)


def test_the_partitions_of_the_last_publish_are_known_and_give_the_same_steps(
    tmp_path: Path,
) -> None:
    steps = find_all_steps(SERIES)
    assert any(steps)
    assert [find(tmp_path) for _ in range(2)] == [(0, steps), (3, steps)]
    assert find(tmp_path, 1) == (3, steps[:1])
    assert find(tmp_path) == (1, steps)


def test_what_other_code_found_and_a_damaged_file_are_as_good_as_none(tmp_path: Path) -> None:
    _, steps = find(tmp_path)
    [path] = tmp_path.iterdir()
    content = path.read_bytes()
    other_code = bytes(16) + content[16:]
    for spoilt in (other_code, content[:-10], b""):
        path.write_bytes(spoilt)
        assert find(tmp_path) == (0, steps)


def test_a_folder_is_made_if_it_can_be(tmp_path: Path) -> None:
    made = tmp_path / "new" / "folder"
    steps = find_all_steps(SERIES)
    assert [find(made) for _ in range(2)] == [(0, steps), (3, steps)]
    (tmp_path / "file").touch()
    assert [find(tmp_path / "file" / "folder") for _ in range(2)] == [(0, steps)] * 2
