"""Files of lines that two machines, or two branches, append to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from asv_watch.records.json_lines import append_lines, read_lines
from tests.conftest import commit, git

WORD = msgspec.json.Decoder(str)


def test_git_keeps_the_lines_of_both_branches(
    make_repository: Callable[..., Path], root: Path
) -> None:
    name = "results/m/1234-env.measured.jsonl"
    attributes = (root / ".gitattributes").read_text()
    folder = make_repository({".gitattributes": attributes, name: '"first"\n'})
    git(folder, "checkout", "--quiet", "-b", "other")
    append_lines(folder / name, ["other"])
    commit(folder, {}, "Other")
    git(folder, "checkout", "--quiet", "main")
    append_lines(folder / name, ["main"])
    commit(folder, {}, "Main")
    git(folder, "merge", "--quiet", "--no-edit", "other")
    entries, problems = read_lines(folder / name, WORD.decode, "word")
    assert sorted(entry for _, entry in entries) == ["first", "main", "other"]
    assert problems == []
