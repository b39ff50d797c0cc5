"""What a part of the commits needs; `tests/test_recipes.py` measures in parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.errors import WatchError
from asv_watch.night.command import parse_part
from tests.clockwork import SUITE, package
from tests.interruptible import run_driver


def test_parts_without_a_reference_are_refused(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    project = make_project(SUITE, {"src/package.py": package()})
    _, errors = run_driver("nightly", project, tmp_path, "--part", "1/2", status=1)
    assert "--part needs a reference" in errors


@pytest.mark.parametrize("text", ["", "2", "0/3", "4/3", "1/0", "a/b", "-1/2", "1/2/3", "1.5/2"])
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(WatchError, match="is not a part of the commits; give one such as 2/5"):
        parse_part(text)
