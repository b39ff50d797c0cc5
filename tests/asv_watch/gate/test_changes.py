"""What the diff of a pull request changed: the files that count, and their functions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.asv.declared import Declared
from asv_watch.asv.settings import Configuration
from asv_watch.errors import WatchError
from asv_watch.gate.changes import measured_files
from tests.conftest import commit, git


def _configuration(root: Path, *measured: str, repository: Path | None = None) -> Configuration:
    nowhere = Path()
    return Configuration(
        *("main", "3", root / "benchmarks", nowhere, nowhere, nowhere, (), repository or root),
        declared=Declared(measured_paths=measured),
    )


def test_documentation_tests_and_what_the_project_does_not_list_are_not_measured(
    make_repository: Callable[..., Path], tmp_path: Path
) -> None:
    root = make_repository({"a": ""})
    paths = ("src/p/a.py", "src/pq.py", "src/b.c", "asv/suite.py", "docs/x.py", "README.md")
    after = commit(root, dict.fromkeys((*paths, "src/p/tests/test_a.py"), "x = 1\n"), "Change")

    def files(folder: Path, configuration: Configuration) -> set[str]:
        return set(measured_files(folder, configuration, "HEAD~1", after))

    code = {"src/p/a.py", "src/pq.py", "src/b.c", "asv/suite.py"}
    assert files(root, _configuration(root)) == code
    listed = _configuration(root, "src/p", "src/b.c")
    assert files(root, listed) == {"src/p/a.py", "src/p/tests/test_a.py", "src/b.c"}
    subfolder = root / "asv"
    assert files(subfolder, _configuration(subfolder)) == code
    assert files(subfolder, _configuration(subfolder, "suite.py")) == {"asv/suite.py"}
    elsewhere = _configuration(tmp_path, "src/p", repository=root)
    assert files(tmp_path, elsewhere) == code


def test_both_names_of_a_renamed_file_are_changed(make_repository: Callable[..., Path]) -> None:
    root = make_repository({"a ä.py": "x = 1\n" * 9, "same": ""})
    git(root, "mv", "a ä.py", "b.py")
    after = commit(root, {}, "Rename")
    assert measured_files(root, _configuration(root), "HEAD~1", after) == ["a ä.py", "b.py"]


@pytest.mark.fault(
    "damaged repository",
    tried="`git diff` fails, because an object is missing",
    holds="the gate fails; it does not take the diff for an empty one",
)
def test_a_diff_that_fails_is_no_empty_diff(make_repository: Callable[..., Path]) -> None:
    folder = make_repository({"a": ""})
    with pytest.raises(WatchError, match="bad object"):
        measured_files(folder, _configuration(folder), "HEAD", "f" * 40)
