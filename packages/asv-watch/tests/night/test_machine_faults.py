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


def test_the_machine_is_blamed_for_its_errors(tmp_path: Path) -> None:
    check_machine("MemoryError", tmp_path)
    check_machine("OSError: [Errno 2] No such file or directory: 'x'", tmp_path)
    for name in ("ENOSPC", "EDQUOT", "EROFS", "EMFILE", "ENFILE", "ENOMEM"):
        number = getattr(errno, name)
        with pytest.raises(MachineError) as error:
            check_machine(f"OSError: {OSError(number, os.strerror(number), 'x')}", tmp_path)
        assert isinstance(find_cause(str(error.value)), MachineError)


INDEX = "the package index answers slowly or wrongly, or cannot be reached"
OF_PIP = """\
   × Encountered error while generating package metadata.
   ╰─> from file:///project

   note: This is an issue with the package mentioned above, not pip.
   hint: See above for details.
"""
NO_VERSION = """\
ERROR: Could not find a version that satisfies the requirement torch===0.0.7 (from versions: none)
ERROR: No matching distribution found for torch===0.0.7
"""
CUT_OFF = "urllib3.exceptions.IncompleteRead: IncompleteRead(9 bytes read, 999 more expected)"


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("Temporary failure in name resolution", INDEX),
        (CUT_OFF, INDEX),
        (NO_VERSION, "torch===0.0.7 cannot be installed: the package index names no version"),
        ("ERROR: HTTPSConnectionPool(host='x', port=443): Read timed out.", INDEX),
        ("ERROR: 503 Server Error: Service Unavailable for url", INDEX),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", INDEX),
        ("ERROR: No matching distribution found for torch==9.9", "torch==9.9 cannot be installed"),
        ("SyntaxError: invalid syntax", "SyntaxError: invalid syntax"),
        (OF_PIP, "Encountered error while generating package metadata."),
    ],
)
def test_the_index_is_told_from_the_commit(printed: str, reason: str) -> None:
    cause = find_cause(printed)
    assert isinstance(cause, MachineError) is ("the package index" in reason)
    assert str(cause).startswith(reason)


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
