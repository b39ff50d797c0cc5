"""A change is narrowed to neighbours, several are all found, and what cannot run is skipped."""

from hypothesis import given
from hypothesis import strategies as st

from asv_watch.bisect import narrow
from asv_watch.errors import WatchError
from asv_watch.statistics.rule import Answer


class Versions:
    """Versions with known speeds; compares them exactly, and counts how often."""

    def __init__(self, speeds: list[float], unmeasurable: frozenset[int] = frozenset()) -> None:
        self.speeds, self.unmeasurable = speeds, unmeasurable
        self.asked: list[tuple[int, int, int]] = []

    def split(self, before: int, after: int, midpoint: int) -> tuple[Answer, Answer]:
        assert before < midpoint < after
        self.asked.append((before, after, midpoint))
        if midpoint in self.unmeasurable:
            raise WatchError
        assert not self.unmeasurable & {before, after}
        return self._compare(before, midpoint), self._compare(midpoint, after)

    def _compare(self, before: int, after: int) -> Answer:
        differs = self.speeds[before] != self.speeds[after]
        return Answer.DIFFERENT if differs else Answer.SAME


def _speeds(count: int, changes: list[int]) -> list[float]:
    """A speed for each version; it rises with each version in ``changes``."""
    return [sum(change <= index for change in changes) for index in range(count)]


@given(st.integers(2, 40), st.data())
def test_every_change_is_found_between_its_neighbours(count: int, data: st.DataObject) -> None:
    changes = sorted(data.draw(st.sets(st.integers(1, count - 1), min_size=1, max_size=3)))
    versions = Versions(_speeds(count, changes))
    assert list(narrow(0, count - 1, versions.split)) == [
        (change - 1, change) for change in changes
    ]
    assert len(set(versions.asked)) == len(versions.asked)
    assert len(versions.asked) <= len(changes) * count.bit_length()


@given(st.integers(3, 30), st.data())
def test_versions_that_cannot_be_measured_widen_the_range_around_them_alone(
    count: int, data: st.DataObject
) -> None:
    change = data.draw(st.integers(1, count - 1))
    inner = st.integers(1, count - 2)
    broken = frozenset(data.draw(st.sets(inner, max_size=count - 2)))
    versions = Versions(_speeds(count, [change]), broken)
    [result] = narrow(0, count - 1, versions.split)
    measurable = [index for index in range(count) if index not in broken]
    last_before = max(index for index in measurable if index < change)
    assert result == (last_before, min(index for index in measurable if index >= change))


def test_a_half_that_is_unclear_is_searched_where_the_other_is_the_same() -> None:
    def compare(before: int, after: int) -> Answer:
        if before < 2 < after or (before, after) == (0, 2):
            return Answer.UNKNOWN
        return Answer.DIFFERENT if (before, after) == (1, 2) else Answer.SAME

    def split(before: int, after: int, midpoint: int) -> tuple[Answer, Answer]:
        return compare(before, midpoint), compare(midpoint, after)

    assert list(narrow(0, 4, split)) == [(1, 2)]


def test_a_range_whose_halves_are_both_unclear_stays_as_it_is() -> None:
    for answer in (Answer.UNKNOWN, Answer.SAME):
        assert list(narrow(0, 8, lambda *_, answer=answer: (answer, answer))) == [(0, 8)]
