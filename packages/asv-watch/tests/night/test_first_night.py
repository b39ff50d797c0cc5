"""The first night of a project with a long history."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.cli.main import main
from tests import torchless
from tests.clockwork import SUITE, package
from tests.conftest import commit, git

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


def test_a_first_night_on_thousands_of_commits_suggests_to_leave_old_ones_out(
    make_project: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = make_project(SUITE, {"src/package.py": package()})
    _add_commits(root, 3000)
    monkeypatch.chdir(root)
    night = ["nightly", "--budget", "1s", "--machine", "m"]
    main(night)
    printed = capsys.readouterr().out
    assert _SUGGESTION in printed
    assert "3001 commits are not measured, the newest first" in printed
    shutil.rmtree(root / "results", ignore_errors=True)  # the next night is a first one too
    settings = json.dumps(torchless.CONFIGURATION | {"oldest_commit": "20"})
    commit(root, {"asv.conf.json": settings}, "Leave old commits out")
    main(night)
    assert _SUGGESTION not in capsys.readouterr().out
