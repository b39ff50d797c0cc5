"""What the gate says of its ratios, how sure it is, and who posts its comment.

The workflow that posts it believes nothing that the artifact says.
"""

import json
import math
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import stdtrit

from asv_watch.comparison import Comparison, Ratio
from asv_watch.errors import WatchError
from asv_watch.gate.result import (
    BETTER,
    FAILED,
    NOT_CERTAIN,
    ROUNDS,
    SKIPPED,
    GateResult,
    comment,
    is_certain,
    judged_ratios,
    parse_share,
    sentence,
    verdict_line,
)
from asv_watch.judge.graph import BETWEEN_SITTINGS, MachineGraphs
from asv_watch.records.notes import ChangeNote
from tests.conftest import REPOSITORY, run, write_program
from tests.planted_comparisons import case_values


def change(
    percent: float, half: float = 0.8, unit: str = "seconds", *, higher_is_better: bool = False
) -> Ratio:
    low, ratio, high = (1 + end / 100 for end in (percent - half, percent, percent + half))
    return Ratio(
        case="s.time_z",
        unit=unit,
        ratio=ratio,
        interval=(low, high),
        before=0.01,
        after=0.01 * ratio,
        higher_is_better=higher_is_better,
        rounds=6,
    )


def exact(before: float, after: float, unit: str, *, higher_is_better: bool = False) -> Ratio:
    values = case_values("s.track_z", before, after, exact=True)
    described = msgspec.structs.replace(values, unit=unit, higher_is_better=higher_is_better)
    ratio = described.ratio(0, 1)
    assert ratio is not None
    return ratio


def result(*cases: str, **changes: Any) -> GateResult:
    """The result of a gate: cases that were not measured, and its other fields.

    One ratio of a case may stand for a tuple of one.
    """
    measured = {
        case: tuple(
            msgspec.structs.replace(ratio, case=case)
            for ratio in (ratios if isinstance(ratios, tuple) else (ratios,))
        )
        for case, ratios in changes.pop("ratios", {}).items()
    }
    made = GateResult(
        base="a" * 40,
        head="b" * 40,
        environment="torch 2.15.0",
        machine="m",
        pattern="",
        threshold=0.03,
        available=34,
        limit_s=1200,
        seconds=300,
        ratios=measured,
        left=cases,
        is_prepared=True,
    )
    return msgspec.structs.replace(made, **changes)


SAME = change(0.1)
SLOWER = change(9), change(6.2)
UNSURE = change(9, half=4)


def test_the_sentence_says_how_many_the_worst_and_what_is_not_known() -> None:
    same = {f"s.time_{number}": SAME for number in range(24)}
    slower = {"s.time_a": SLOWER, "s.time_b": (change(2.5, half=0.3), change(2.0))}
    measured = result(ratios=same | slower)
    assert sentence(measured) == "2 of 26 cases slower, worst +6.2 % (+5.4 to +7.0 %)"
    assert verdict_line(measured) == (
        "**The gate fails: 1 slower by 3.0 % or more.** To accept that, give bbbbbbbb a "
        "`[[change]]` of kind `expected` in `notes.toml`."
    )
    assert verdict_line(result(ratios=same)) == "The gate passes."
    others = {"s.time_c": UNSURE, "s.time_f": change(9, half=10), "s.time_g": change(-9)}
    unknown = {"failed": {"s.time_d": "out of cheese"}, "skipped": {"s.time_h": "no such model"}}
    mixed = result("s.time_e", ratios=others, **unknown)
    assert sentence(mixed) == (
        "0 of 3 cases slower; 1 slower, but not for certain, "
        "1 too noisy to exclude 3.0 %, 1 failed, 1 not measured"
    )
    assert list(map(mixed.state, mixed.cases)) == [
        *(NOT_CERTAIN, "same", BETTER, "not measured", FAILED, SKIPPED)
    ]
    assert sentence(result()).startswith("No changed file can change a measured value")


def test_a_gate_is_undecided_where_too_little_is_known() -> None:
    noisy = change(1, half=7)
    for undecided in (
        result("s.time_e"),
        result(is_prepared=False),
        result(ratios={"s.time_a": UNSURE, "s.time_b": SAME}),
        result("s.time_e", ratios={"s.time_a": noisy}),
        result(ratios={"s.time_a": noisy}),
    ):
        assert undecided.outcome == "undecided"
        assert sentence(undecided).startswith("Undecided: ")
        assert verdict_line(undecided).startswith("**The gate is undecided")
    unknown = "Undecided: 0 of 0 cases slower; 1 not measured in 20 min 00 s"
    assert sentence(result("s.time_e")) == unknown
    assert result("s.time_e", ratios={"s.time_a": SAME}).outcome == "passed"
    noisy_and_same = result(ratios={"s.time_a": noisy, "s.time_b": SAME})
    assert sentence(noisy_and_same) == "0 of 2 cases slower; 1 too noisy to exclude 3.0 %"
    assert verdict_line(noisy_and_same) == "The gate passes."


def test_less_is_worse_where_more_is_better() -> None:
    ratios = {
        "s.track_a": exact(0.9, 0.8, "%", higher_is_better=True),
        "s.track_b": exact(0.8, 0.9, "%", higher_is_better=True),
        "s.track_c": exact(100, 115, "lines"),
        "s.track_e": exact(5, 0, "items", higher_is_better=True),
        "s.track_d": (change(-10, unit="%", higher_is_better=True),) * 2,
    }
    measured = result(ratios=ratios, threshold=0.1)
    assert measured.failing() == ["s.track_e", "s.track_c", "s.track_a", "s.track_d"]
    assert measured.in_state(BETTER) == ["s.track_b"]
    del ratios["s.track_e"]  # a share of nothing has no size
    sized = result(ratios=ratios, threshold=0.1)
    assert sentence(sized) == "3 of 4 cases worse, worst +15.0 %"


def test_an_exact_value_that_got_worse_fails_whatever_its_sign() -> None:
    pairs = ((0, 1), (-5, 2), (-1, 0), (5, 0), (0, -1), (0, 0))
    ratios = {f"s.track_{index}": exact(*pair, "calls") for index, pair in enumerate(pairs)}
    measured = result(ratios=ratios)
    assert measured.failing() == list(ratios)[:3]
    assert measured.in_state(BETTER) == list(ratios)[3:5]
    assert result(ratios=ratios, threshold=0.0).uncertain() == [], (
        "equal counts reach no threshold"
    )
    changes = [difference.change for difference in measured.answer().differences]
    assert changes == [*["changed"] * 5, "±0.0 %"]


def test_a_note_accepts_a_slowdown_and_no_failure() -> None:
    note = ChangeNote("bbbbbbb", "expected", "a longer window", ("*time_[ab]",), "m", "Ann")
    noted: dict[str, Any] = {"notes": (note,)}
    slower: dict[str, Any] = {"ratios": {"s.time_a": SLOWER}}
    failed: dict[str, Any] = {"failed": {"s.time_d": "out of cheese"}}
    assert verdict_line(result(**failed)) == "**The gate fails: 1 failed.**"
    assert verdict_line(result(**slower, **failed)).startswith(
        "**The gate fails: 1 slower by 3.0 % or more, 1 failed.**"
    )
    assert verdict_line(result(**slower, **failed, **noted)) == "**The gate fails: 1 failed.**"
    assert verdict_line(result(**slower, **noted)) == (
        "The gate passes although 1 slower by 3.0 % or more: `notes.toml` accepts that."
    )
    another = {"s.time_a": SLOWER, "s.time_z": SLOWER}
    assert result(ratios=another, **noted).failing() == ["s.time_z"]
    assert result(**slower, **noted, machine="another").outcome == "failed"
    assert result(ratios={"s.time_b": UNSURE}, **noted).outcome == "passed"


def test_a_comment_is_never_longer_than_github_takes() -> None:
    names = (f"s.time_{number}({'x' * 250!r})" for number in range(400))
    text = comment(result(ratios=dict.fromkeys(names, change(5))))
    assert len(text) < 65_536
    assert re.search(r"\n\d+ more do not fit here\.\n", text)
    assert text.startswith("400 of 400 cases slower")


def test_a_threshold_is_a_percentage() -> None:
    assert [parse_share(text) for text in ("3%", "2.5 %", "0")] == [0.03, 0.025, 0]
    for text in ("", "-3%", "three", "nan", "1e9", "٣%", "3%\n", "3\u00a0%"):
        with pytest.raises(WatchError, match="is not a percentage; give one such as 3%"):
            parse_share(text)


def test_the_answer_as_json_has_the_words_of_all_commands() -> None:
    ratios = {"s.time_a": SLOWER, "s.time_b": change(2, 1.5), "s.track_d": exact(10, 8, "bytes")}
    measured = result("s.time_f", ratios=ratios, failed={"s.time_e": "out of cheese"})
    answer = json.loads(msgspec.json.encode(measured.answer()))
    assert (answer["schema"], answer["command"], answer["outcome"]) == (1, "gate", "failed")
    assert (answer["before"], answer["after"]) == ("a" * 40, "b" * 40)
    slower, uncertain, less, left, failed = answer["differences"]
    assert slower["ratio"] == pytest.approx(1.062)  # as measured last
    assert (slower["case"], slower["verdict"], slower["worse"]) == ("s.time_a", "slower", True)
    assert (uncertain["verdict"], uncertain["reason"]) == ("slower", "not for certain")
    assert uncertain["rounds"] == 6
    assert (less["verdict"], less["before"], less["after"]) == ("better", 10, 8)
    assert (failed["verdict"], failed["reason"]) == ("not measured", "out of cheese")
    assert left == {"case": "s.time_f", "verdict": "not measured", "machine": "m"}


def _measured(ratios: Iterable[float]) -> Comparison:
    rounds = tuple((1.0, float(ratio)) for ratio in ratios)
    return Comparison("s.time_it", 1_790_000_000, rounds=rounds)


@pytest.mark.parametrize("margin", [0.99, 1.01])
def test_all_looks_together_have_an_error_of_1_in_40_000(margin: float) -> None:
    """Each look has the same share of it, so whatever they have in common, it is no more."""
    slower = change(9)
    error = 1 / 40_000 / len(ROUNDS)
    limit = stdtrit(slower.rounds - 1, 1 - error) / stdtrit(slower.rounds - 1, 0.995)
    half = math.exp(math.log(slower.ratio) / limit / margin)
    interval = slower.ratio / half, slower.ratio * half
    assert is_certain(msgspec.structs.replace(slower, interval=interval)) is (margin > 1)


ROUND_RATIOS = st.lists(st.floats(0.8, 1.25), min_size=5, max_size=8)


@given(ROUND_RATIOS, ROUND_RATIOS)
@example([1.05] * 8, [1.0, 1.1, 1.02, 1.15, 0.99])
def test_no_interval_of_a_slower_case_includes_1(first: list[float], again: list[float]) -> None:
    """On a busy machine fresh rounds alone showed −2 to +12 % of a case called slower."""
    ratios = judged_ratios([_measured(first), _measured(again)], MachineGraphs(()))
    low, high = ratios[-1].interval
    if ratios[0].differs:
        assert not low <= 1 <= high
        assert ratios[-1].verdict is ratios[0].verdict


def test_intervals_of_the_gate_are_those_of_compare() -> None:
    """Also of a machine without a history: they include what the prior says of sittings."""
    measured = _measured([1.031, 1.030, 1.032, 1.031, 1.030])
    [ratio] = judged_ratios([measured], MachineGraphs(()))
    compared = MachineGraphs(()).alone(measured, 0, 1)
    assert compared is not None
    assert (ratio.ratio, ratio.interval) == (compared.ratio, compared.interval)
    half = math.log(ratio.interval[1] / ratio.ratio)
    assert half > 2.5 * BETWEEN_SITTINGS["time"]
    assert not is_certain(ratio), "another hour may show less than 2 %"
    unlike = msgspec.structs.replace(measured, least_spread=0.05)
    [wider] = judged_ratios([unlike], MachineGraphs(()))
    assert wider.interval[0] < ratio.interval[0], "other cases of the gate vary by 5 %"


JOB = yaml.safe_load((REPOSITORY / ".github/workflows/gate-comment.yml").read_text())["jobs"][
    "comment"
]
HEAD = "b" * 40
SLOWER_OR_MORE = {"s.time_a('x')": SLOWER, "s.track_d": exact(0, 3e20, "calls_of_x/s")}
RATIOS = SLOWER_OR_MORE | {"s.time_b": SAME}
COMMENT = comment(result(ratios=RATIOS))
GH = """#!/bin/sh
echo "$*" >> ../calls
if [ "$2" = view ]; then echo "$AT"; else cat > ../posted; fi
"""


def post(
    folder: Path, text: str | bytes, number: str = "7\n", at: str = HEAD
) -> tuple[int, str, str]:
    """Run the step with an artifact and an imitated `gh`; return its status and what it wrote."""
    [script] = [step["run"] for step in JOB["steps"] if "run" in step]
    files = folder / "gate"
    files.mkdir(exist_ok=True)
    (files / "pull-request").write_text(number)
    (files / "gate.md").write_bytes(text.encode() if isinstance(text, str) else text)
    write_program(folder / "gh", GH)
    path = f"{folder}:{os.environ['PATH']}"
    variables = {"PATH": path, "HEAD": HEAD, "FILES": str(files), "LC_ALL": "C.UTF-8", "AT": at}
    shell = "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", str(script)
    done = run(*shell, cwd=folder, env=variables, status=None)
    posted = folder / "posted"
    return done.returncode, done.stdout, posted.read_text() if posted.exists() else ""


def test_the_comment_is_posted_once_and_then_replaced(tmp_path: Path) -> None:
    assert post(tmp_path, COMMENT) == (0, "", COMMENT)
    assert "<summary>1 other</summary>" in COMMENT
    assert (tmp_path / "calls").read_text().splitlines() == [
        "pr view 7 --json headRefOid --jq .headRefOid",
        "pr comment 7 --edit-last --create-if-none --body-file -",
    ]
    assert JOB["permissions"] == {"actions": "read", "pull-requests": "write"}


def test_a_pull_request_at_another_commit_gets_no_comment(tmp_path: Path) -> None:
    status, printed, posted = post(tmp_path, COMMENT, at="c" * 40)
    assert (status, posted) == (0, "")
    assert printed == f"pull request 7 is at {'c' * 40}, but {HEAD} was measured\n"


@pytest.mark.parametrize("number", ["", "0", "-1", "7 --repo", "7;id", "../8", "٣", "x\n7"])
def test_a_number_is_digits(tmp_path: Path, number: str) -> None:
    refusal = "::error::the artifact names no pull request, so nothing was posted\n"
    assert post(tmp_path, COMMENT, number) == (1, refusal, "")


@pytest.mark.parametrize(
    "text",
    [
        *("@everyone", "<img src=x>", "[a](b)", "![a](b)", "#12", "&#64;all", "http://a.example"),
        *("WWW.a.example", "\\`@a`", "`a` @b", "``a` @b `", "`a", "`a\n`@b`", "`a | @b`", "~~~"),
        *("`a\r\r@b`", "\x1b[2J", "`\x1b[2J`", b"`\xff @b`", "x <!-- y -->"),
        "<details><summary>1 others</summary>\n`<img>`\n\n</details>\n\nend",
        "x\n\n<details><summary>@all</summary>\n\n</details>\n\nend",
        *("x" * 65_537, "é" * 40_000),
    ],
)
def test_a_text_that_the_gate_does_not_write_is_not_posted(
    tmp_path: Path, text: str | bytes
) -> None:
    status, printed, posted = post(tmp_path, text)
    assert (status, posted) == (1, "")
    [line] = printed.splitlines()
    assert line.startswith("::error::the artifact is ")


def test_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gate").mkdir()
    (tmp_path / "gate/link").symlink_to("/proc/self/environ")
    refusal = "::error::the artifact lacks a file, so nothing was posted\n"
    assert post(tmp_path, COMMENT) == (1, refusal, "")


@settings(max_examples=30)
@given(st.lists(st.text(max_size=60), min_size=6, max_size=6))
def test_whatever_a_pull_request_names_its_comment_is_posted(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    case, failed, skipped, unit, machine, pattern = texts
    text = comment(
        result(
            ratios={case: change(9, unit=unit), f"{case}'": exact(-1, 2e-9, unit)},
            failed={f"{case}2": failed or "x"},
            skipped={f"{case}3": skipped},
            machine=machine,
            environment=machine,
            pattern=pattern,
        )
    )
    assert post(tmp_path_factory.mktemp("posted"), text) == (0, "", text)
