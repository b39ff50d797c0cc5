"""What the diff of a pull request changed: the files that count, and their functions."""

from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.asv.settings import Configuration
from asv_watch.errors import WatchError
from asv_watch.gate.changes import measured_files
from tests.conftest import commit, git


def _configuration(root: Path, *measured: str) -> Configuration:
    nowhere = Path()
    return Configuration(
        *("main", root / "benchmarks", nowhere, nowhere, nowhere, (), root),
        measured_paths=measured,
    )


def test_documentation_tests_and_what_the_project_does_not_list_are_not_measured(
    make_repository: Callable[..., Path],
) -> None:
    root = make_repository({"a": ""})
    paths = ("src/p/a.py", "src/pq.py", "src/b.c", "asv/suite.py", "docs/x.py", "README.md")
    after = commit(root, dict.fromkeys((*paths, "src/p/tests/test_a.py"), "x = 1\n"), "Change")

    def files(configuration: Configuration) -> set[str]:
        return set(measured_files(configuration, "HEAD~1", after))

    code = {"src/p/a.py", "src/pq.py", "src/b.c", "asv/suite.py"}
    assert files(_configuration(root)) == code
    listed = _configuration(root, "src/p", "src/b.c")
    assert files(listed) == {"src/p/a.py", "src/p/tests/test_a.py", "src/b.c"}
    assert files(_configuration(root / "asv")) == code
    assert files(_configuration(root / "asv", "suite.py")) == {"asv/suite.py"}


def test_both_names_of_a_renamed_file_are_changed(make_repository: Callable[..., Path]) -> None:
    root = make_repository({"a ä.py": "x = 1\n" * 9, "same": ""})
    git(root, "mv", "a ä.py", "b.py")
    after = commit(root, {}, "Rename")
    assert measured_files(_configuration(root), "HEAD~1", after) == ["a ä.py", "b.py"]


def test_a_diff_that_fails_is_no_empty_diff(make_repository: Callable[..., Path]) -> None:
    folder = make_repository({"a": ""})
    with pytest.raises(WatchError, match="bad object"):
        measured_files(_configuration(folder), "HEAD", "f" * 40)
