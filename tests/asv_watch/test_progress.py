"""What a person reads while a measurement goes on."""

from __future__ import annotations

import io

import pytest

from asv_watch.progress import Display, human_time


def test_each_step_is_a_line_where_there_is_no_terminal() -> None:
    stream = io.StringIO()
    with Display(stream) as display:
        display.step("round 1 [1/2] a  ok, 24 s left", done=1, total=2)
        display.say("  done in 1 min 05 s")
    assert stream.getvalue().splitlines() == [
        "round 1 [1/2] a  ok, 24 s left",
        "  done in 1 min 05 s",
    ]


@pytest.mark.parametrize(
    ("seconds", "words"), [(40.2, "40 s"), (65, "1 min 05 s"), (3900, "1 h 05 min")]
)
def test_a_duration_is_written_as_a_person_says_it(seconds: float, words: str) -> None:
    assert human_time(seconds) == words
