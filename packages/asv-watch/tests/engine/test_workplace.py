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
from tests.making import make_configuration


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    """Two environments that are not installed, of 6 GiB each."""
    environments = (EnvironmentSpec({}, name, tmp_path / name) for name in ("2", "1"))
    return make_configuration(tmp_path, *environments, declared=Declared(environment_gib=6))


def test_a_full_disk_is_refused_before_anything_is_installed(
    configuration: Configuration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=8 * 1024**3))
    with pytest.raises(MachineError, match=r"8\.0 GiB are free .* 12\.2 GiB .*make room"):
        check_room(configuration, configuration.environments)
    (tmp_path / "2").mkdir()
    results = tmp_path / ".asv" / "deeper" / "results"
    check_room(dataclasses.replace(configuration, results=results), configuration.environments)
    assert results.is_dir()


def test_environments_that_are_installed_need_no_more_room(
    configuration: Configuration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [tmp_path / str(number) for number in range(6)]
    free = [25 * 1024**3]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free[-1]))
    assert count_that_fits(configuration, folders, 5) == 4
    for folder in folders[:4]:
        folder.mkdir()
        free.append(free[-1] - 6 * 1024**3)
        assert count_that_fits(configuration, folders, 5) == 4
    assert count_that_fits(configuration, folders, 3) == 3


def test_changes_of_what_is_not_measured_are_allowed(make_repository: Callable[..., Path]) -> None:
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
    (folder / "results/m/x.json").write_text("measured again")
    check_clean(folder, (), folder / "results", Path("/nowhere"))
    (folder / "README.md").write_text("once more")
    with pytest.raises(WatchError, match=r"README\.md differs"):
        check_clean(folder, (), folder / "results")
