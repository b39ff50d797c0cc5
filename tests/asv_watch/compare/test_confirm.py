"""Suspected changes are found and compared, which measures or refutes them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from asv_watch.compare.confirm import Suspects, find_suspects
from asv_watch.judge.findings import analyse
from asv_watch.records.measurements import read_comparisons
from asv_watch.versions.releases import Release
from tests.asv_watch.clockwork import SUITE, package
from tests.asv_watch.interruptible import run_driver
from tests.asv_watch.judge.test_findings import comparison, history_of, noisy, together
from tests.asv_watch.making import MACHINE, commit_hash
from tests.conftest import commit, git

EARLIER = 9
_SCALED = {"result", "samples"} | {
    f"stats_{name}" for name in ("ci_99_a", "ci_99_b", "q_25", "q_75")
}


def test_suspected_changes_of_this_machine_are_measured_newest_first() -> None:
    quiet, jumped, lasting = noisy({}), noisy({39: 1.3}), noisy({20: 1.3})
    history = history_of(quiet, jumped, lasting)
    suspects = find_suspects(history, analyse(history).changes, MACHINE)
    cases = [series.case.name for series in history.series]
    assert suspects == [
        Suspects(
            commit_hash(38), commit_hash(39), Release("torch", "2.15.0"), frozenset({cases[1]})
        ),
        Suspects(
            commit_hash(19), commit_hash(20), Release("torch", "2.15.0"), frozenset({cases[2]})
        ),
    ]
    assert find_suspects(history, analyse(history).changes, "another") == []


@pytest.mark.parametrize(("comparisons", "wanted"), [(0, True), (1, False)])
def test_a_suspicion_is_compared_once(comparisons: int, wanted: bool) -> None:
    unsure = comparison(38, 39, 1.15, half=0.2)
    history = history_of(noisy({39: 1.3}), comparisons=together(*[unsure] * comparisons))
    assert bool(find_suspects(history, analyse(history).changes, MACHINE)) is wanted


@pytest.fixture
def project(make_project: Callable[..., Path]) -> Path:
    root = make_project(SUITE, {"src/package.py": package()})
    for number in range(EARLIER - 1):
        commit(root, {"README": str(number)}, "Write docs")
    commit(root, {"src/package.py": package(slow=0.0015)}, "Do more in one model")
    return root


def _scaled(stored: Any, factor: float) -> Any:
    if isinstance(stored, list):
        return [_scaled(value, factor) for value in stored]
    return stored * factor if isinstance(stored, float) else stored


def pretend_history(
    project: Path, result: Path, *revisions: str, slower: tuple[float, float] = (1.5, 1.5)
) -> None:
    """Store results of earlier commits, than which HEAD is slower in its two cases."""
    newest = json.loads(result.read_text())
    commits = git(project, "rev-list", "--reverse", *revisions).split()
    for number, hash_ in enumerate(commits):
        earlier = json.loads(result.read_text()) | {"commit_hash": hash_}
        factor = 1 + 0.001 * math.cos(7 * number)
        for name, columns in newest["results"].items():
            earlier["results"][name] = [
                [_scaled(of_case, factor / s) for of_case, s in zip(value, slower, strict=True)]
                if column in _SCALED
                else value
                for column, value in zip(newest["result_columns"], columns, strict=False)
            ]
        name = result.name.replace(newest["commit_hash"][:8], hash_[:8])
        result.with_name(name).write_text(json.dumps(earlier))


def test_a_real_change_is_measured_and_interference_is_refuted(
    project: Path, tmp_path: Path
) -> None:
    output, _ = run_driver("bench", project, tmp_path, "--cases", "suite")
    [result] = (project / "results" / "m").glob("*-*.json")
    pretend_history(project, result, "HEAD~1")

    output, _ = run_driver("confirm", project, tmp_path)
    head, parent = git(project, "rev-list", "--max-count=2", "HEAD").split()
    [comparison], _ = read_comparisons(project / "results")
    header = comparison.header
    assert (header.kind, header.before.commit, header.after.commit) == ("confirm", parent, head)
    assert "slower: suite.Suite.time_it('slow'), +" in output
    assert "same: suite.Suite.time_it('plain'), " in output

    output, _ = run_driver("confirm", project, tmp_path)
    assert "slower: suite.Suite.time_it('slow'), +" in output, "a second comparison agrees"
    assert "time_it('plain')" not in output, "what was refuted is not compared again"
    output, _ = run_driver("confirm", project, tmp_path)
    assert output == "no change has to be compared\n"
