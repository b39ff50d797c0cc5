"""Which commits a night measures, in real repositories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.conftest import commit, git
from torchspeed.watch.jobs.nightly import commits_to_measure

MODEL = "src/torchspeed/models/darnn.py"


def _measured(folder: Path, commits: list[str], machine: str = "m") -> None:
    for name in commits:
        path = folder / "results" / machine / f"{name[:8]}-env.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")


def _night(folder: Path) -> list[str]:
    return commits_to_measure(folder, "main", folder / "results", "m")


def test_a_machine_without_results_begins_at_the_newest(
    make_repository: Callable[..., Path],
) -> None:
    folder = make_repository({MODEL: "1"})
    newest = commit(folder, {MODEL: "2"}, "Faster")
    assert _night(folder) == [newest]


def test_all_since_the_newest_measured_oldest_first(make_repository: Callable[..., Path]) -> None:
    folder = make_repository({MODEL: "1"})
    known, *new = (commit(folder, {MODEL: str(n)}, f"Step {n}") for n in (2, 3, 4))
    _measured(folder, [known])
    assert _night(folder) == [known, *new]


def test_commits_that_cannot_change_a_figure_are_left_out(
    make_repository: Callable[..., Path],
) -> None:
    folder = make_repository({MODEL: "1"})
    known = git(folder, "rev-parse", "HEAD")
    _measured(folder, [known])
    commit(folder, {}, "Add results of the night")
    commit(folder, {"src/torchspeed/site/page.py": "", "README.md": ""}, "Tell more")
    assert _night(folder) == [known]
    suite = commit(folder, {"benchmarks/more.py": ""}, "Measure more")
    assert _night(folder) == [known, suite]


def test_the_newest_measured_commit_may_be_one_that_changes_no_figure(
    make_repository: Callable[..., Path],
) -> None:
    folder = make_repository({MODEL: "1"})
    known = commit(folder, {"README.md": ""}, "Tell more")
    _measured(folder, [known])
    new = commit(folder, {MODEL: "2"}, "Faster")
    assert _night(folder) == [known, new]


def test_another_machines_results_do_not_count(make_repository: Callable[..., Path]) -> None:
    folder = make_repository({MODEL: "1"})
    first = git(folder, "rev-parse", "HEAD")
    _measured(folder, [first], machine="other")
    newest = commit(folder, {MODEL: "2"}, "Faster")
    assert _night(folder) == [newest]


def test_only_the_first_parents_of_main_are_measured(
    make_repository: Callable[..., Path],
) -> None:
    folder = make_repository({MODEL: "1"})
    _measured(folder, [git(folder, "rev-parse", "HEAD")])
    git(folder, "switch", "--quiet", "--create", "feature")
    inside = commit(folder, {MODEL: "2"}, "Work in progress")
    git(folder, "switch", "--quiet", "main")
    git(folder, "merge", "--quiet", "--no-ff", "feature", "--message", "Merge the feature")
    merge = git(folder, "rev-parse", "HEAD")
    assert merge in _night(folder)
    assert inside not in _night(folder)
