from hypothesis import given
from hypothesis import strategies as st

from asv_watch.comparison import Outcome
from asv_watch.records.records import NEVER_RUN, Point, Run
from tests.making import columns_of, commit_hash

NUMBERS = st.floats(-1e300, 1e300)
TEXTS = st.text(max_size=3)
PAIRS = st.none() | st.tuples(NUMBERS, NUMBERS)
RUNS = st.one_of(
    st.just(NEVER_RUN),
    st.builds(Run, st.just(Outcome.FAILED), st.none(), TEXTS, TEXTS),
    st.builds(
        Run,
        st.just(Outcome.OK),
        st.builds(Point, NUMBERS, PAIRS),
        st.just(""),
        TEXTS,
    ),
)


@given(st.lists(RUNS))
def test_columns_give_the_runs_that_they_were_made_of(runs: list[Run]) -> None:
    by_commit = {commit_hash(number): run for number, run in enumerate(runs)}
    columns = columns_of(by_commit)
    assert columns.runs() == by_commit
    valued = {commit: run for commit, run in by_commit.items() if run.point is not None}
    assert {commit: run for commit, run in columns.valued.runs().items() if run.point} == valued
    points = [run.point for run in valued.values() if run.point]
    assert columns.valued.values.tolist() == [point.value for point in points]
    ends = [point.interval for point in points if point.interval]
    assert [tuple(pair) for pair in columns.valued.interval.tolist() if pair[0] == pair[0]] == ends
