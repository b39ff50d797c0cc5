"""The workflow that posts the comment of the gate believes nothing that the artifact says."""

import os
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from asv_watch.gate.result import comment
from tests.conftest import REPOSITORY, run
from tests.gate.results import change, exact, result

JOB = yaml.safe_load((REPOSITORY / ".github/workflows/gate-comment.yml").read_text())["jobs"][
    "comment"
]
HEAD = "b" * 40
RATIOS = {"s.time_a('x')": (change(9), change(6.2)), "s.track_d": exact(0, 3e20, "calls_of_x/s")}
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
    (folder / "gh").write_text(GH)
    (folder / "gh").chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    variables = {"PATH": path, "HEAD": HEAD, "FILES": str(files), "LC_ALL": "C.UTF-8", "AT": at}
    shell = "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", str(script)
    done = run(*shell, cwd=folder, env=variables, status=None)
    posted = folder / "posted"
    return done.returncode, done.stdout, posted.read_text() if posted.exists() else ""


def test_the_comment_is_posted_once_and_then_replaced(tmp_path: Path) -> None:
    assert post(tmp_path, COMMENT) == (0, "", COMMENT)
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
