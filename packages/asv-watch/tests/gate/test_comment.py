"""What the gate says, and that nothing which a pull request wrote is interpreted."""

from __future__ import annotations

import json
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.errors import WatchError
from asv_watch.gate.comment import comment, sentence, verdict_line
from asv_watch.gate.result import CaseState, GateCase, GateResult, parse_share
from asv_watch.records.notes import ChangeNote
from asv_watch.text.markdown import code
from tests.gate.results import change, exact, result

SAME = change(0.1)
SAME_CASE = GateCase("s.time_z", (SAME,))


def test_the_sentence_says_how_many_the_worst_and_what_is_not_known() -> None:
    same = [GateCase(f"s.time_{number}", (SAME,)) for number in range(24)]
    slower = (
        GateCase("s.time_a", (change(9), change(6.2))),
        GateCase("s.time_b", (change(2.5, half=0.3), change(2.0))),
    )
    measured = result(*same, *slower)
    assert sentence(measured, 0.03) == "2 of 26 cases slower, worst +6.2 % (+5.4 to +7.0 %)"
    assert verdict_line(measured, 0.03) == (
        "**The gate fails: 1 slower by 3.0 % or more.** To accept that, give bbbbbbbb a "
        "`[[change]]` of kind `expected` in `notes.toml`."
    )
    assert verdict_line(result(*same), 0.03) == "The gate passes."
    others = (
        GateCase("s.time_c", (change(9, half=4),)),
        GateCase("s.time_d", (), failed="out of cheese"),
        GateCase("s.time_e"),
        GateCase("s.time_f", (change(9, half=10),)),
        GateCase("s.time_g", (change(-9),)),
        GateCase("s.time_h", skipped="no such model"),
    )
    assert sentence(result(*others), 0.03) == (
        "0 of 3 cases slower; 1 slower, but not for certain, "
        "1 too noisy to exclude 3.0 %, 1 failed, 1 not measured"
    )
    unmeasured = GateCase("s.time_e")
    for undecided in (result(unmeasured), result(is_prepared=False), result(others[0], SAME_CASE)):
        assert sentence(undecided, 0.03).startswith("Undecided: ")
        assert verdict_line(undecided, 0.03).startswith("**The gate is undecided")
    assert not result(SAME_CASE, unmeasured).is_undecided(0.03)
    noisy = GateCase("s.time_i", (change(1, half=7),))
    assert result(noisy, unmeasured).is_undecided(0.03)
    assert sentence(result(noisy, SAME_CASE), 0.03) == (
        "0 of 2 cases slower; 1 too noisy to exclude 3.0 %"
    )
    assert verdict_line(result(noisy, SAME_CASE), 0.03) == "The gate passes."
    assert result(noisy).is_undecided(0.03), "nothing is known of any case"
    states = [result(*others).state(case) for case in others]
    assert states == [
        CaseState.NOT_CERTAIN,
        CaseState.FAILED,
        CaseState.NOT_MEASURED,
        CaseState.SAME,
        CaseState.BETTER,
        CaseState.SKIPPED,
    ]
    assert sentence(result(), 0.03).startswith("No changed file can change a measured value")


def test_less_is_worse_where_more_is_better() -> None:
    measured = result(
        GateCase("s.track_a", (exact(0.9, 0.8, "%", higher_is_better=True),)),
        GateCase("s.track_b", (exact(0.8, 0.9, "%", higher_is_better=True),)),
        GateCase("s.track_c", (exact(100, 115, "lines"),)),
        GateCase("s.track_d", (change(-10, unit="%", higher_is_better=True),) * 2),
        GateCase("s.track_e", (change(10, 10, "%", higher_is_better=True),)),
    )
    worse = [case.case for case in measured.failing(0.1)]
    assert worse == ["s.track_c", "s.track_a", "s.track_d"]
    assert [case.case for case in measured.in_state(CaseState.BETTER)] == ["s.track_b"]
    assert measured.uncertain(0.03) == []
    assert sentence(measured, 0.1) == "3 of 5 cases worse, worst +15.0 %"


def test_an_exact_value_that_got_worse_fails_whatever_its_sign() -> None:
    pairs = ((0, 1), (-5, 2), (-1, 0), (5, 0), (0, -1), (0, 0))
    cases = [GateCase(f"s.track_{i}", (exact(*pair, "calls"),)) for i, pair in enumerate(pairs)]
    measured = result(*cases)
    assert measured.failing(0.03) == cases[:3]
    assert measured.in_state(CaseState.BETTER) == cases[3:5]
    assert measured.uncertain(0.0) == [], "equal counts reach no threshold"
    changes = [difference.change for difference in measured.answer(0.03).differences]
    assert changes == [*["changed"] * 5, "±0.0 %"]


def test_a_note_accepts_a_slowdown_and_no_failure() -> None:
    failed = GateCase("s.time_d", (), failed="out of cheese")
    slower = GateCase("s.time_a", (change(9), change(6.2)))
    unsure = GateCase("s.time_b", (change(9, half=4),))
    note = ChangeNote("bbbbbbb", "expected", "a longer window", ("*time_[ab]",), "m", "Ann")

    def noted(*cases: GateCase) -> GateResult:
        return result(*cases, notes=(note,))

    assert verdict_line(result(SAME_CASE, failed), 0.03) == "**The gate fails: 1 failed.**"
    assert verdict_line(result(slower, failed), 0.03).startswith(
        "**The gate fails: 1 slower by 3.0 % or more, 1 failed.**"
    )
    assert verdict_line(noted(slower, failed), 0.03) == "**The gate fails: 1 failed.**"
    assert verdict_line(noted(slower), 0.03) == (
        "The gate passes although 1 slower by 3.0 % or more: `notes.toml` accepts that."
    )
    row = "| +6.2 % (+5.4 to +7.0 %) | slower: `expected, by Ann: a longer window` |"
    assert row in comment(noted(slower), 0.03)
    another = GateCase("s.time_z", slower.changes)
    assert noted(slower, another).failing(0.03) == [another]
    assert not result(slower, notes=(note,), machine="another").passes(0.03)
    assert result(unsure).is_undecided(0.03)
    assert not noted(unsure).is_undecided(0.03)
    [expected] = noted(slower).answer(0.03).differences
    assert expected.expected == "expected, by Ann: a longer window"


def test_the_comment_begins_with_the_sentence() -> None:
    cases = [GateCase(f"s.time_{number}", (change(5), change(5))) for number in range(3)]
    measured = result(*cases, pattern="a|b")
    text = comment(measured, 0.03)
    lines = text.splitlines()
    assert lines[0] == f"{sentence(measured, 0.03)}."
    assert lines[4].startswith("| case | before | after | change |")
    assert "| `s.time_0` | 10.0 ms | 10.5 ms | +5.0 % (+4.2 to +5.8 %) | slower |" in lines
    again = "asv-watch compare --before aaaaaaaa --after bbbbbbbb --cases '^s.time_0$'"
    assert f"The first case again: `{again}`." in text


def test_a_comment_is_never_longer_than_github_takes() -> None:
    names = (f"s.time_{number}({'x' * 250!r})" for number in range(400))
    measured = result(*(GateCase(name, (change(5), change(5))) for name in names))
    text = comment(measured, 0.03)
    assert len(text) < 65_536
    assert re.search(r"\n\d+ more do not fit here\.\n", text)
    assert text.startswith("400 of 400 cases slower")


@given(st.text(max_size=400))
def test_any_text_becomes_one_piece_of_code(text: str) -> None:
    made = code(text)
    assert re.fullmatch("`[^`|]{1,300}`", made)
    assert made.isprintable()


def test_a_threshold_is_a_percentage() -> None:
    assert [parse_share(text) for text in ("3%", "2.5 %", "0")] == [0.03, 0.025, 0]
    for text in ("", "-3%", "three", "nan", "1e9", "٣%", "3%\n", "3\u00a0%"):
        with pytest.raises(WatchError, match="is not a percentage; give one such as 3%"):
            parse_share(text)


def test_the_answer_as_json_has_the_words_of_all_commands() -> None:
    measured = result(
        GateCase("s.time_a", (change(9), change(6))),
        GateCase("s.time_b", (change(2, 1.5),)),
        GateCase("s.time_c", (SAME,)),
        GateCase("s.track_d", (exact(10.0, 8.0, "bytes"),)),
        GateCase("s.time_e", failed="out of cheese"),
        GateCase("s.time_f"),
    )
    answer = json.loads(msgspec.json.encode(measured.answer(0.03)))
    assert (answer["schema"], answer["command"], answer["outcome"]) == (1, "gate", "failed")
    assert (answer["before"], answer["after"]) == ("a" * 40, "b" * 40)
    slower, uncertain, same, less, failed, left = answer["differences"]
    assert slower["ratio"] == pytest.approx(1.06)  # as measured last
    assert (slower["case"], slower["verdict"], slower["worse"]) == ("s.time_a", "slower", True)
    assert (uncertain["verdict"], uncertain["reason"]) == ("slower", "not for certain")
    assert (same["verdict"], same["rounds"]) == ("same", 6)
    assert (less["verdict"], less["before"], less["after"]) == ("better", 10, 8)
    assert (failed["verdict"], failed["reason"]) == ("not measured", "out of cheese")
    assert left == {"case": "s.time_f", "verdict": "not measured", "machine": "m"}
    outcomes = [
        result(*cases).answer(0.03).outcome
        for cases in ([GateCase("a", (SAME,))], [GateCase("a", (change(2, 1.5),))])
    ]
    assert outcomes == ["passed", "undecided"]


def test_cases_that_were_not_measured_are_counted_and_not_listed() -> None:
    left = [GateCase(f"s.time_{number}") for number in range(297)]
    text = comment(result(SAME_CASE, *left), 0.03)
    assert "297 not measured in 20 min 00 s" in text.splitlines()[0]
    assert not [line for line in text.splitlines() if line.startswith("| `s.time_1")]
    assert len(text.splitlines()) < 20


def test_a_gate_that_could_measure_nothing_says_so() -> None:
    text = comment(result(GateCase("s.time_a")), 0.03)
    assert text.startswith("Undecided: 0 of 0 cases slower; 1 not measured in 20 min 00 s.")
