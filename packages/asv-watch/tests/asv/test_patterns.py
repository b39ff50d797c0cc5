"""Regular expressions of people are used as `re` does, or refused in one line."""

from __future__ import annotations

import pytest

from asv_watch.asv.patterns import case_pattern, pattern_of
from asv_watch.errors import WatchError


@pytest.mark.parametrize("text", ["a{99999999999}", "(" * 6000, "(?:" * 3000 + ")" * 3000, "["])
def test_what_is_no_pattern_is_refused(text: str) -> None:
    with pytest.raises(WatchError, match=r"--cases .* is not a regular expression"):
        case_pattern(text, "--cases")


def test_the_pattern_of_a_case_finds_it() -> None:
    case = "suite.Suite.time_it('a+b', [1])"
    assert case_pattern(f"^{pattern_of(case)}$").search(case)
