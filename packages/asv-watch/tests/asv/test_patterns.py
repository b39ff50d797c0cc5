"""Regular expressions of people: each is used, or refused, within seconds."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.asv.patterns import Pattern
from asv_watch.errors import WatchError


@pytest.mark.parametrize(
    "text", ["a{99999999999}", "(" * 6000, "(?:" * 3000 + ")" * 3000, "[", "x" * 10_001]
)
def test_what_is_no_pattern_is_refused(text: str) -> None:
    with pytest.raises(WatchError, match=r"--cases .* is not a regular expression"):
        Pattern(text, "--cases")


def test_a_pattern_that_matches_for_ever_is_refused() -> None:
    pattern = Pattern("(a+)+$", "--cases")
    assert pattern.matches("aaa")
    with pytest.raises(WatchError, match="takes too long to match 'aaaa"):
        pattern.matches("a" * 60 + "b")


def test_a_pattern_is_never_matched_without_a_limit() -> None:
    with ThreadPoolExecutor() as threads, pytest.raises(ValueError, match="main thread"):
        threads.submit(Pattern("b$", "x").matches, "ab").result()


@given(
    text=st.text(max_size=60) | st.from_regex(r"[a-c(){}|+*?^$.\\[\]0-9,]{0,40}"), name=st.text()
)
def test_any_text_is_matched_as_re_does_or_refused(text: str, name: str) -> None:
    try:
        matches = Pattern(text, "--cases").matches(name)
    except WatchError as refused:
        assert "--cases" in str(refused)  # noqa: PT017 - whatever it is
        return
    assert matches == bool(re.search(text, name))
