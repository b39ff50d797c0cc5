"""Disk and changes: what a run may begin with."""

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from asv_watch.asv.declared import Declared
from asv_watch.asv.settings import Configuration, EnvironmentSpec
from asv_watch.engine.workplace import check_clean, check_room, count_that_fits
from asv_watch.errors import MachineError, WatchError
from tests.conftest import commit


def _configuration(folder: Path) -> Configuration:
    environments = tuple(
        EnvironmentSpec({"numpy": number}, number, folder / number) for number in ("2", "1")
    )
    return Configuration(
        branch="main",
        suites=folder / "benchmarks",
        results=folder / "results",
        site=folder / "html",
        environments_folder=folder / ".asv/env",
        environments=environments,
        declared=Declared(environment_gib=6),
        repository=folder,
    )


def test_a_full_disk_is_refused_before_anything_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configuration = _configuration(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=8 * 1024**3))
    with pytest.raises(MachineError, match=r"8\.0 GiB are free .* 12\.2 GiB .*make room"):
        check_room(configuration, configuration.environments)
    (tmp_path / "2").mkdir()
    check_room(configuration, configuration.environments)


def test_environments_that_are_installed_need_no_more_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the second start measures as many releases at once as the first that was interrupted."""
    configuration = _configuration(tmp_path)
    folders = [tmp_path / str(number) for number in range(6)]
    free = [25 * 1024**3]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free[-1]))
    assert count_that_fits(configuration, folders, 5) == 4
    for folder in folders[:4]:
        folder.mkdir()
        free.append(free[-1] - 6 * 1024**3)
        assert count_that_fits(configuration, folders, 5) == 4
    assert count_that_fits(configuration, folders, 3) == 3


def test_a_folder_of_results_is_made_with_those_around_it(tmp_path: Path) -> None:
    results = tmp_path / ".asv" / "deeper" / "results"
    check_room(dataclasses.replace(_configuration(tmp_path), results=results), ())
    assert results.is_dir()


def test_changes_of_what_is_not_measured_do_not_matter(
    make_repository: Callable[..., Path],
) -> None:
    folder = make_repository({"src/torchspeed/models/a.py": "", "README.md": ""})
    bytecode = "src/torchspeed/models/__pycache__/a.cpython-311.pyc"
    for name in ("README.md", "results/m/x.json", "src/torchspeed/site/new.py", bytecode):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("changed")
    measured = ("benchmarks", "src/torchspeed/models")
    check_clean(folder, measured)
    (folder / "src/torchspeed/models/a.py").write_text("changed")
    with pytest.raises(WatchError, match=r"src/torchspeed/models/a\.py differs"):
        check_clean(folder, measured)
    commit(folder, {}, "Done")
    check_clean(folder, measured)
    (folder / "untracked").write_text("new")
    check_clean(folder, ())
    (folder / "README.md").write_text("once more")
    with pytest.raises(WatchError, match=r"README\.md differs"):
        check_clean(folder, ())
    commit(folder, {"README.md": ""}, "Done, with results")
    (folder / "results/m/x.json").write_text("measured again")
    check_clean(folder, (), folder / "results", Path("/nowhere"))
