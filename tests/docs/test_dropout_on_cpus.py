"""The script beside the findings, with one interpreter on both sides."""

import re
import sys

import torch

from tests.conftest import ROOT, run

SCRIPT = ROOT / "docs/dropout_on_cpus.py"


def test_it_prints_a_ratio_of_each_case_with_one_and_two_threads() -> None:
    small = ["--batch", "1", "--rounds", "2"]
    printed = run(sys.executable, SCRIPT, sys.executable, sys.executable, *small).stdout
    assert f"torch {torch.__version__} / {torch.__version__}" in printed
    rows = re.findall(
        r"^\| (.+) \| ([12]) \| (\S+) \| (\S+) to (\S+) \| (\S+) \| (\S+) \|$", printed, re.M
    )
    assert len({row[:2] for row in rows}) == len(rows) == 8
    assert all(0.2 < float(ratio) < 5 for _, _, ratio, *_ in rows), "both sides are the same"
    assert all(float(before) > 0 < float(after) for *_, before, after in rows)


def test_it_says_in_one_line_which_interpreter_lacks_torch() -> None:
    for python, remedy in {
        "/no/python": "name the interpreter",
        "false": "needs torch",
    }.items():
        done = run(sys.executable, SCRIPT, sys.executable, python, status=1)
        assert re.fullmatch(rf"{python}: .*{remedy}.*\n", done.stderr)
