"""Which cases a diff touches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.asv.declared import Declared
from asv_watch.asv.selection import EVERYTHING
from asv_watch.asv.settings import Configuration, read_configuration
from asv_watch.errors import WatchError
from asv_watch.gate.touched import changed_files, touched_cases
from asv_watch.interleave.cases import timed_cases
from asv_watch.interleave.processes import TimedCase
from asv_watch.records.suite_lists import read_machine_list
from tests.conftest import ROOT, commit, git

FOREIGN = {
    "package/__init__.py": "from package.fast import f\nfrom . import slow\n",
    "package/fast.py": "from . import deep\n",
    "package/deep.py": "",
    "package/slow.py": "",
    "package/lonely.py": "",
    "package/broken.py": "def",
    "benchmarks/__init__.py": "",
    "benchmarks/common.py": "",
    "benchmarks/a.py": "from .common import x\n",
    "benchmarks/b.py": "import package\n",
    "benchmarks/c.py": "from package.deep import y\n",
    "docs/index.md": "",
    "tests/test_it.py": "import package\n",
    "src.c": "",
}


def _touched(root: Path, measured: tuple[str, ...], names: list[str], path: str) -> set[str]:
    suites = root / "benchmarks"
    nowhere = Path()
    configuration = Configuration(
        *("main", "3", suites, nowhere, nowhere, nowhere, (), root),
        declared=Declared(measured_paths=measured),
    )
    cases = [TimedCase(name, name, 1.0) for name in names]
    return {case.name for case in touched_cases(root, configuration, [path], cases)}


@pytest.mark.parametrize(
    ("path", "touched"),
    [
        ("benchmarks/common.py", "a"),
        ("package/slow.py", "bc"),  # importing package.deep imports the package first
        ("package/deep.py", "bc"),
        ("package/lonely.py", "abc"),  # who imports it is not known
        ("package/removed.py", "abc"),
        ("src.c", "abc"),
        ("tests/test_it.py", ""),
    ],
)
def test_a_file_of_any_project_touches_the_suites_that_import_it(
    make_repository: Callable[..., Path], path: str, touched: str
) -> None:
    root = make_repository(FOREIGN)
    names = ["a.time_x", "b.Suite.time_y(1)", "c.time_z('deeper')"]
    answer = _touched(root, (), names, path)
    assert {name[0] for name in answer} == set(touched)


def test_a_file_that_a_parameter_names_touches_the_cases_with_that_value(
    make_repository: Callable[..., Path],
) -> None:
    root = make_repository(
        {
            "src/p/models/__init__.py": "from p.models.one import One\nfrom p.models import two\n",
            "src/p/models/one.py": "from p.models.shared import s",
            "src/p/models/two.py": "from p.models.shared import s",
            "src/p/models/shared.py": "",
            "src/p/passes.py": "from p import models",
            "src/p/cli.py": "",
            "benchmarks/suite.py": "new('passes', ['one', 'one_big', 'two', 'three'])",
            "benchmarks/other.py": "run('one')",
        }
    )
    names = [f"suite.time_it('{model}', 'cpu')" for model in ("one", "one_big", "two", "three")]
    names.append("other.time_training")
    measured = ("benchmarks", "src/p/models", "src/p/passes.py")

    def touched(path: str) -> list[int]:
        answer = _touched(root, measured, names, path)
        return [place for place, name in enumerate(names) if name in answer]

    assert touched("src/p/models/one.py") == [0, 1, 4]
    assert touched("src/p/models/two.py") == [2]
    assert touched("src/p/models/shared.py") == [0, 1, 2, 4]
    assert touched("src/p/models/__init__.py") == [0, 1, 2, 3, 4]
    assert touched("src/p/passes.py") == [0, 1, 2, 3]
    assert touched("src/p/cli.py") == []
    assert touched("benchmarks/other.py") == [4]


def test_a_model_of_this_project_touches_its_own_cases_and_shared_code_all() -> None:
    configuration = read_configuration(ROOT)
    listed = read_machine_list(configuration.results, "none").values()
    cases = timed_cases(listed, EVERYTHING.only_times(), configuration.declared)

    def models(path: str) -> set[str]:
        touched = touched_cases(ROOT, configuration, [path], cases)
        return {case.name.partition("'")[2].partition("'")[0] for case in touched if case.short}

    everything = {case.name.partition("'")[2].partition("'")[0] for case in cases if case.short}
    assert models("src/torchspeed/models/tuned/dsanet.py") == {"dsanet"}
    dsanets = {"dsanet", "dsanet_flux_literal"}  # the latter has the former's towers
    assert dsanets >= models("src/torchspeed/models/dsanet.py") >= {"dsanet"}
    assert "resnet18" not in models("src/torchspeed/models/lstm.py")
    for shared in ("measure/passes.py", "workloads.py", "models/checks.py"):
        assert models(f"src/torchspeed/{shared}") == everything
    assert models("src/asv_watch/site/build.py") == set()


def test_asv_conf_json_may_lie_in_a_subfolder(make_repository: Callable[..., Path]) -> None:
    root = make_repository(
        {
            "package/__init__.py": "",
            "package/a.py": "",
            "asv/benchmarks/suite.py": "from package import a",
            "asv/benchmarks/other.py": "",
        }
    )
    names = ["suite.time_it", "other.time_it"]
    assert _touched(root / "asv", (), names, "package/a.py") == {"suite.time_it"}
    assert _touched(root / "asv", (), names, "asv/benchmarks/other.py") == {"other.time_it"}
    assert _touched(root / "asv", ("benchmarks",), names, "package/a.py") == set()


def test_both_names_of_a_renamed_file_are_changed(make_repository: Callable[..., Path]) -> None:
    root = make_repository({"a ä.py": "x = 1\n" * 9, "same": ""})
    git(root, "mv", "a ä.py", "b.py")
    after = commit(root, {}, "Rename")
    assert changed_files(root, "HEAD~1", after) == ["a ä.py", "b.py"]


@pytest.mark.fault(
    "damaged repository",
    tried="`git diff` fails, because an object is missing",
    holds="the gate fails; it does not take the diff for an empty one",
)
def test_a_diff_that_fails_is_no_empty_diff(make_repository: Callable[..., Path]) -> None:
    folder = make_repository({"a": ""})
    with pytest.raises(WatchError, match="bad object"):
        changed_files(folder, git(folder, "rev-parse", "HEAD"), "f" * 40)
