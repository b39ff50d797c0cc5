"""What a person reads while a measurement goes on."""

import time

import pytest

from asv_watch import progress
from asv_watch.machine.budget import Budget
from asv_watch.progress import Display, human_time


@pytest.mark.parametrize(
    ("seconds", "words"), [(40.2, "40 s"), (65, "1 min 05 s"), (3900, "1 h 05 min")]
)
def test_a_duration_is_written_as_a_person_says_it(seconds: float, words: str) -> None:
    assert human_time(seconds) == words


def test_a_long_step_says_again_how_much_of_the_limit_is_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.05)
    moments = iter(range(0, 6000, 60))  # a minute passes between two looks at the clock
    budget = Budget(600, lambda: float(next(moments)))
    with Display().during("building the head", budget):
        time.sleep(2)
    first, again, *_, last = capsys.readouterr().out.splitlines()
    assert first == "building the head, 9 min 00 s of the limit left"
    assert again == "  still building the head, 8 min 00 s of the limit left"
    assert last.startswith("building the head took ")


def test_a_short_step_takes_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with Display().during("listing the cases", Budget(600, lambda: 0.0)):
        pass
    assert capsys.readouterr().out == "listing the cases, 10 min 00 s of the limit left\n"
