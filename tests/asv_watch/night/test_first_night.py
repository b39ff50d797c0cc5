"""The first night of a project with a long history."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.cli.main import main
from tests.asv_watch.clockwork import SUITE, package
from tests.conftest import git

_SUGGESTION = 'as "oldest_commit" in asv.conf.json'


def _add_commits(root: Path, count: int) -> None:
    """Commit changes of the package, each a line that does nothing."""
    lines = []
    for number in range(count):
        content = f"{package()}# {number}\n"
        lines += [
            "commit refs/heads/main",
            f"committer A <a@example.org> {1_760_000_000 + number} +0000",
            "data 1",
            "x",
            *(["from refs/heads/main^0"] if not number else []),
            "M 100644 inline src/package.py",
            f"data {len(content)}",
            content,
        ]
    stream = "\n".join(lines).encode()
    subprocess.run(["git", "fast-import", "--quiet"], cwd=root, input=stream, check=True)
    git(root, "reset", "--quiet", "--hard", "main")


@pytest.mark.parametrize(("oldest", "is_suggested"), [("", True), ("20", False)])
def test_a_first_night_on_thousands_of_commits_suggests_to_leave_old_ones_out(
    make_project: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    oldest: str,
    is_suggested: bool,
) -> None:
    root = make_project(SUITE, {"src/package.py": package()}, oldest_commit=oldest)
    _add_commits(root, 3000)
    monkeypatch.chdir(root)
    main(["nightly", "--budget", "1s", "--machine", "m"])
    printed = capsys.readouterr().out
    assert (_SUGGESTION in printed) == is_suggested
    assert ("3001 commits are not measured, the newest first" in printed) == is_suggested
