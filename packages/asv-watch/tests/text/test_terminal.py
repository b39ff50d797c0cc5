"""Text of other people on a terminal: what it cannot show is written out, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.cli.main import main
from asv_watch.text.terminal import printable
from tests.interruptible import run_driver
from tests.test_results import checkout, edit, measured

__all__ = ["checkout", "measured"]  # fixtures
HOSTILE = "\x1b[2Jgone\0\u202e\ud800"
SHOWN = r"\x1b[2Jgone\x00\u202e\ud800"
SUITE = """
def track_words():
    return 3

def track_broken():
    raise RuntimeError("\\x1b[2Jgone\\0\\u202e")
"""


def is_harmless(text: str) -> bool:
    return text.replace("\n", "").replace("\t", "") == printable(text.replace("\n", ""))


def test_a_text_is_shown_with_what_is_invisible_written_out() -> None:
    assert printable(HOSTILE) == SHOWN
    assert printable("é 漢\tα\n−1.5 %\u202f") == "é 漢\tα\n−1.5 %\u202f"


def test_no_command_prints_an_escape_sequence(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "results/m/0a-\x1b[2J.json").write_text("{")
    assert main(["results", "check"]) == 1
    printed = capsys.readouterr().out
    assert r"0a-\x1b[2J.json" in printed
    assert is_harmless(printed)
    edit(checkout / "asv.conf.json", repo="\x1b[2J")
    assert main(["releases"]) == 1
    printed = capsys.readouterr().err
    assert r"\x1b[2J" in printed
    assert is_harmless(printed)


def test_a_failed_case_of_a_comparison_is_printed_without_its_escape_sequences(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    files = {"src/package.py": ""}
    project = make_project(SUITE, files, measured_paths=[])
    arguments = ("--before", "HEAD", "--after", "HEAD")
    printed, errors = run_driver("compare", project, tmp_path, *arguments, status=3)
    assert r"Failed: suite.track_broken" in printed
    assert printed.count(r"\x1b[2Jgone\x00\u202e") == 2
    assert is_harmless(printed + errors)
