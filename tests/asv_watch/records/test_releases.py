"""The file of tried releases: what is written is read, and damage costs only its line."""

from __future__ import annotations

from pathlib import Path

import msgspec

from asv_watch.records.json_lines import append_lines
from asv_watch.records.releases import (
    FILE_NAME,
    TriedRelease,
    read_releases,
)

GOOD = TriedRelease(
    requirements={"numpy": "2.4.0", "scipy": "1.16.0"},
    at=1_795_000_000,
    facts={"oneDNN": "3.13.3"},
)
FAILED = TriedRelease(requirements={"numpy": "2.5.0"}, at=1_795_000_001, failed="no wheel")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    earlier = msgspec.to_builtins(GOOD) | {"import_s": [1.25], "import_peak_bytes": [545_000_000]}
    append_lines(tmp_path / "m" / FILE_NAME, [earlier, FAILED])
    append_lines(tmp_path / "other" / FILE_NAME, [FAILED])
    releases, problems = read_releases(tmp_path, "m")
    assert releases == {"numpy 2.4.0": GOOD, "numpy 2.5.0": FAILED}
    assert problems == ()


def test_the_newest_line_of_a_release_counts(tmp_path: Path) -> None:
    append_lines(
        tmp_path / "m" / FILE_NAME,
        [TriedRelease(requirements={"numpy": "2.4.0"}, at=1, failed="x")],
    )
    append_lines(tmp_path / "m" / FILE_NAME, [GOOD])
    assert read_releases(tmp_path, "m")[0] == {"numpy 2.4.0": GOOD}
