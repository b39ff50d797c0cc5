"""A fault of the machine, such as a full disk or no network, counts against no commit."""

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.errors import MachineError
from asv_watch.machine.commands import check_machine, find_cause
from asv_watch.night.state import NIGHTS, Attempts


@pytest.mark.parametrize(
    "number",
    [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM],
)
def test_the_machine_is_blamed_for_its_errors(tmp_path: Path, number: int) -> None:
    check_machine("MemoryError", tmp_path)
    check_machine("OSError: [Errno 2] No such file or directory: 'x'", tmp_path)
    with pytest.raises(MachineError) as error:
        check_machine(f"OSError: {OSError(number, os.strerror(number), 'x')}", tmp_path)
    assert isinstance(find_cause(str(error.value)), MachineError)


@pytest.mark.parametrize(
    ("printed", "is_machine"),
    [
        ("Temporary failure in name resolution", True),
        ("ERROR: HTTPSConnectionPool(host='x', port=443): Read timed out.", True),
        ("ERROR: 503 Server Error: Service Unavailable for url", True),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", True),
        ("ERROR: No matching distribution found for torch==9.9", False),
        ("SyntaxError: invalid syntax", False),
    ],
)
def test_the_place_is_told_from_the_commit(printed: str, is_machine: bool) -> None:
    assert isinstance(find_cause(printed), MachineError) is is_machine


@given(st.lists(st.integers(0, 2**33), max_size=NIGHTS - 1))
def test_a_jump_of_the_clock_sets_nothing_aside(
    tmp_path_factory: pytest.TempPathFactory, times: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("attempts")
    clock = iter(times)
    attempts = Attempts(folder, "suites", lambda: next(clock))
    for _ in times:
        attempts.add_failure("task", "reason")
        assert not attempts.set_aside("task")
    assert Attempts(folder, "suites", lambda: 0).failures == attempts.failures
