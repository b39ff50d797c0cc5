"""`asv-watch releases` to the end: real pip and environments, wheels that stand in for torch."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from asv_watch.asv.release_list import add_release
from asv_watch.asv.settings import read_configuration
from asv_watch.records.comparisons import read_comparisons
from asv_watch.records.release_values import FILE_NAME, ReleaseValue, read_release_values
from asv_watch.records.releases import IMPORT_CASE, read_releases
from tests.asv_watch.interruptible import start_driver
from tests.asv_watch.planted_releases import compared_releases, store
from tests.asv_watch.torchless import CONFIGURATION
from tests.conftest import git

TORCH = """
import types

__version__ = "{version}+cpu"
WORK = {work}
tensor = list
version = types.SimpleNamespace(git_version="0123456789abcdef", cuda=None)
__config__ = types.SimpleNamespace(show=lambda: "MKL-DNN v3.1.0", parallel_info=str)
backends = types.SimpleNamespace(cpu=types.SimpleNamespace(get_cpu_capability=lambda: "AVX2"))
get_num_threads = get_num_interop_threads = lambda: 1
"""
TORCHVISION = """
import types

__version__ = "{version}+{build}"
ops = types.SimpleNamespace(nms=lambda boxes, scores, threshold: boxes)
"""
SUITE = """
import json
import time
from pathlib import Path


def peakmem_it():
    pass


def track_it():
    import torch
    return torch.WORK


def track_missing_it():
    raise NotImplementedError("no such operator")


track_it.exact = track_missing_it.exact = True
track_it.unit = "steps"


class Compiled:
    params = (["cnn", "lstm"],)
    param_names = ("model",)

    def setup_cache(self):
        return str(Path.cwd())

    def setup(self, folder, model):
        import torch
        if model == "lstm" and torch.WORK > 2000:
            raise RuntimeError("no kernel for " + folder)
        with Path(folder, "compiled").open("a") as record:
            record.write(model)
        self.compiled = Path(folder, "compiled").read_text()

    def track_breaks_it(self, folder, model):
        return self.compiled.count("cnn")

    def track_graphs_it(self, folder, model):
        return self.compiled.count("cnn")

    track_breaks_it.exact = track_graphs_it.exact = True


class Prepared:
    params = (["lenet", "resnet"],)
    param_names = ("model",)

    def setup_cache(self):
        return json.loads(Path("cases.json").read_text())

    def track_prepared_it(self, prepared, model):
        return len(prepared["suite.Prepared"])

    track_prepared_again_it = track_prepared_it
    track_prepared_it.exact = track_prepared_it.may_fork = True


class Suite:
    params = (["all", "new"],)
    param_names = ("release",)
    timer = time.process_time
    sample_time = 0.005
    warmup_time = 0
    timeout = 20

    def setup(self, release):
        import torch
        if release == "new" and torch.__version__ < "9.1":
            raise NotImplementedError("torch 9.0 has no such operator")
        self.work = torch.WORK

    def time_it(self, release):
        for _ in range(self.work):
            sum(range(20))
"""


def _wheel(folder: Path, name: str, version: str, code: str, requires: str = "") -> None:
    """Write a wheel of one module."""
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}/__init__.py": code,
        f"{info}/METADATA": metadata + (f"Requires-Dist: {requires}\n" if requires else ""),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"{info}/RECORD,,\n"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
            record += f"{path},sha256={digest.decode()},{len(text)}\n"
            archive.writestr(path, text)
        archive.writestr(f"{info}/RECORD", record)


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Publish torch 9.0.0 to 9.2.0; the torchvision of 9.2.0 was built for another device."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for torch, work, vision, build in (
        ("9.0.0", 2000, "8.0.0", "cpu"),
        ("9.1.0", 2600, "8.1.0", "cpu"),
        ("9.2.0", 2600, "8.2.0", "cu999"),
    ):
        _wheel(folder, "torch", torch, TORCH.format(version=torch, work=work))
        code = TORCHVISION.format(version=vision, build=build)
        _wheel(folder, "torchvision", vision, code, f"torch=={torch}")
    others = os.environ.get("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_FIND_LINKS", f"{others} {folder}".strip())
    return folder


@pytest.fixture
def project(make_repository: Callable[..., Path], wheels: Path) -> Path:
    text = json.dumps(CONFIGURATION, indent=4)
    listed = '    "releases": [\n        ["9.1.0", "8.1.0"],\n        ["9.0.0", "8.0.0"]\n    ],\n'
    return make_repository(
        {
            "asv.conf.json": "{\n" + listed + text.removeprefix("{\n"),
            "benchmarks/__init__.py": "",
            "benchmarks/suite.py": SUITE,
            "src/package.py": "",
            ".gitignore": ".asv/\n",
        }
    )


def _run(
    project: Path, home: Path, *arguments: str, job: str = "releases"
) -> tuple[int, str, str]:
    process: subprocess.Popen[str] = start_driver(job, project, home, *arguments)
    printed, errors = process.communicate()
    return process.returncode, printed, errors


def test_releases_are_compared_once_and_the_list_says_so(project: Path, tmp_path: Path) -> None:
    status, printed, errors = _run(project, tmp_path, "list")
    assert status == 0, errors
    assert "| 9.1.0 | 8.1.0       | missing " in printed
    assert printed.splitlines()[-2:] == [
        "newest development build: none is offered",
        "newly published: 9.2.0",
    ]

    status, printed, errors = _run(project, tmp_path, "measure", "--cases", "_it(?!.*resnet)")
    assert status == 3, printed + errors
    assert (
        "torch 9.1.0: suite.Compiled.track_breaks_it('lstm') failed: RuntimeError: no" in printed
    )
    [comparison], problems = read_comparisons(project / "results")
    assert problems == ()
    header = comparison.header
    assert header.kind == "release"
    assert (header.before.torch, header.after.torch) == ("9.0.0", "9.1.0")
    assert header.before.commit == header.after.commit
    ratios = {case.case: case.ratio for case in comparison.ratios}
    assert set(ratios) == {IMPORT_CASE, "suite.Suite.time_it('all')"}
    assert 1.15 < ratios["suite.Suite.time_it('all')"] < 1.45  # 1.3 times the work
    assert "suite.Suite.time_it('all'): not explained: " in printed, "no real torch to profile"
    [skipped] = comparison.unmeasured
    assert skipped.case == "suite.Suite.time_it('new')"
    assert skipped.skipped == "torch 9.0 has no such operator"
    releases, problems = read_releases(project / "results", "m")
    assert set(releases) == {"9.0.0", "9.1.0"}
    assert problems == ()
    assert releases["9.1.0"].facts["oneDNN"] == "3.1.0"
    assert min(releases["9.1.0"].import_peak_bytes) > 2**20
    values, problems = read_release_values(project / "results" / "m" / FILE_NAME)
    assert problems == ()
    steps = {value.torch: value.value for value in values if value.case == "suite.track_it"}
    assert steps == {"9.0.0": 2000, "9.1.0": 2600}
    memory = [value.value for value in values if value.case == "suite.peakmem_it"]
    assert len(memory) == 2
    assert all(value is not None and value > 2**20 for value in memory)
    reasons = {value.skipped for value in values if value.case == "suite.track_missing_it"}
    assert reasons == {"no such operator"}
    prepared = {value.value for value in values if value.case.startswith("suite.Prepared")}
    assert prepared == {1}, "a `setup_cache` is told the cases that are measured, each once"
    _check_values_of_one_process(values)
    assert not list((project / ".asv" / "releases").iterdir()), "environments are removed"
    environments = read_configuration(project).environments
    assert not list(environments.glob("*/bin")), "none of asv's own is made"

    again = ("9.1.0", "--against", "9.0.0", "--cases", "_it(?!.*resnet)")
    status, printed, errors = _run(project, tmp_path, "measure", *again)
    assert (status, errors) == (0, "")
    assert "nothing is missing: each release is compared already" in printed
    status, printed, errors = _run(project, tmp_path, "list")
    assert re.search(r"\| 9\.1\.0 .*\| 3 cases, .*\(of 1\) +\| 1 of 5, 2 failed \|", printed)
    status, printed, errors = _run(project, tmp_path, "findings")
    assert (status, errors) == (0, "")
    assert printed.startswith("torch 9.1.0 against 9.0.0: ")
    assert re.search(
        r"^\| `suite\.Suite\.time_it\('all'\)` \| unconfirmed \|.*: 1\.\d+ \[", printed, re.M
    )


def _check_values_of_one_process(values: Sequence[ReleaseValue]) -> None:
    compiled = {
        (value.torch, value.case.removeprefix("suite.Compiled.track_")): value
        for value in values
        if value.case.startswith("suite.Compiled")
    }
    for torch in ("9.0.0", "9.1.0"):
        assert compiled[torch, "breaks_it('cnn')"].value == 1
        assert compiled[torch, "graphs_it('cnn')"].value == 2, (
            "one process and folder measures both"
        )
    assert compiled["9.0.0", "breaks_it('lstm')"].value == 0, "another model has its own"
    assert compiled["9.1.0", "graphs_it('lstm')"].failed.startswith("RuntimeError: no kernel for ")


def test_a_night_compares_a_release_that_was_added_since_and_the_newest_development_build(
    project: Path, tmp_path: Path, wheels: Path
) -> None:
    """Where one was compared before; that of the newest day has no torchvision yet."""
    for day, local in ((20, "+cpu"), (21, "")):
        torch = f"9.3.0.dev202611{day}"
        code = TORCH.format(version=torch, work=2600)
        _wheel(wheels, "torch", torch + local, code)
    vision = TORCHVISION.format(version="8.3.0.dev20261120", build="cpu")
    _wheel(wheels, "torchvision", "8.3.0.dev20261120", vision, "torch==9.3.0.dev20261120")
    known_build = compared_releases("9.1.0", "9.3.0.dev20261119", {IMPORT_CASE: 1.0}, machine="m")
    store(project / "results", known_build)
    (wheels / "torchvision-8.2.0-py3-none-any.whl").unlink()
    code = TORCHVISION.format(version="8.2.1", build="cpu")
    _wheel(wheels, "torchvision", "8.2.1", code, "torch==9.2.0")
    known = {f"suite.Suite.time_it('{release}')": 1.3 for release in ("all", "new")}
    store(project / "results", compared_releases("9.0.0", "9.1.0", known, machine="m"))
    add_release(project, "9.2.0", "8.2.1")
    git(project, "commit", "--quiet", "--all", "--message", "List torch 9.2.0")
    status, printed, _ = _run(project, tmp_path, "--cases", "time_it", job="nightly")
    assert status == 3, "asv's own environment has no torch, so its cases fail"
    assert "torch release without comparison:\ntorch 9.2.0 against 9.1.0\n" in printed
    assert "torch 9.3.0.dev20261120 against 9.2.0\n" in printed
    *_, released, build = read_comparisons(project / "results")[0]
    for comparison, expected in (
        (released, ["9.1.0", "9.2.0"]),
        (build, ["9.2.0", "9.3.0.dev20261120"]),
    ):
        versions = comparison.header.before, comparison.header.after
        assert [version.torch for version in versions] == expected
        assert {case.case for case in comparison.ratios} == {
            IMPORT_CASE,
            "suite.Suite.time_it('all')",
            "suite.Suite.time_it('new')",
        }
    arguments = ("measure", "nightly", "--cases", "time_it")
    status, printed, errors = _run(project, tmp_path, *arguments)
    assert (status, errors) == (0, "")
    assert "nothing is missing" in printed
    status, printed, errors = _run(project, tmp_path, "findings", "nightly")
    assert (status, errors) == (0, "")
    assert printed.startswith("torch 9.3.0.dev20261120 against 9.2.0: ")
    assert not list((project / ".asv" / "releases").iterdir()), "environments are removed"


def test_a_release_is_compared_with_itself_at_a_commit_that_is_named(
    project: Path, tmp_path: Path
) -> None:
    (project / "src" / "package.py").write_text("LATER = True\n")
    git(project, "commit", "--quiet", "--all", "--message", "Change the package")
    older = git(project, "rev-parse", "HEAD~1")
    options = ("--against", "9.1.0", "--commit", "HEAD~1", "--cases", "all")
    status, printed, errors = _run(project, tmp_path, "measure", "9.1.0", *options)
    assert status == 0, printed + errors
    assert "**torch 9.1.0** against **torch 9.1.0**" in printed
    [comparison] = read_comparisons(project / "results")[0]
    assert (comparison.header.kind, comparison.header.after.commit) == ("null", older)


def test_a_release_is_pinned_only_if_it_works_with_its_torchvision(
    project: Path, tmp_path: Path, wheels: Path
) -> None:
    pinned = (project / "asv.conf.json").read_text()
    status, printed, errors = _run(project, tmp_path, "add", "9.2.0")
    assert status == 1
    assert "torch 9.2.0 + torchvision 8.2.0: ImportError: torch was built for cpu and " in errors
    assert "torchvision for cu999; nothing was pinned" in errors
    assert (project / "asv.conf.json").read_text() == pinned

    (wheels / "torchvision-8.2.0-py3-none-any.whl").unlink()
    code = TORCHVISION.format(version="8.2.1", build="cpu")
    _wheel(wheels, "torchvision", "8.2.1", code, "torch==9.2.0")
    status, printed, errors = _run(project, tmp_path, "add", "9.2.0")
    assert status == 0, errors
    assert printed.splitlines()[-1] == 'added ["9.2.0", "8.2.1"] to asv.conf.json'
    line = '        ["9.2.0", "8.2.1"],\n'
    text = (project / "asv.conf.json").read_text()
    assert text.replace(line, "") == pinned
    assert not list((project / ".asv" / "releases").iterdir())


def test_a_release_that_cannot_be_installed_is_kept_as_failed(
    project: Path, tmp_path: Path, wheels: Path
) -> None:
    (wheels / "torch-9.0.0-py3-none-any.whl").unlink()
    status, printed, errors = _run(project, tmp_path, "measure", "--cases", "time_it")
    assert status == 3, errors
    assert "torch 9.1.0 against torch 9.0.0: torch 9.0.0 + torchvision 8.0.0: " in printed
    releases, _ = read_releases(project / "results", "m")
    assert "torch===9.0.0 cannot be installed" in releases["9.0.0"].failed


def test_the_list_names_the_newest_development_build_of_an_index(
    project: Path, tmp_path: Path
) -> None:
    page = tmp_path / "index" / "torch"
    page.mkdir(parents=True)
    files = (f"torch-9.{minor}.0.dev20261121+cpu-py3-none-any.whl" for minor in (1, 3))
    links = "".join(f'<a href="{name}">{name}</a>' for name in files)
    (page / "index.html").write_text(f"<!DOCTYPE html><html><body>{links}</body></html>")
    index = (tmp_path / "index").as_uri()
    status, printed, errors = _run(project, tmp_path, "list", "--index", index)
    assert status == 0, errors
    assert "newest development build: 9.3.0.dev20261121\n" in printed


def test_without_an_index_the_list_says_what_is_unknown(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_RETRIES", "0")
    status, printed, errors = _run(project, tmp_path, "list")
    assert status == 0, errors
    assert "| 9.1.0 | 8.1.0 " in printed
    assert printed.splitlines()[-1].startswith("newly published: unknown (")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("add",), "name the release, such as"),
        (("list", "9.1.0"), "leave the release out"),
        (("measure", "9.0.0"), "torch 9.0.0 has no predecessor under"),
        (("measure", "--against", "1.0"), "has no torch 1.0 to compare with under"),
        (("add", "99.0"), "torch===99.0 cannot be installed"),
        (("measure", "nightly"), "offers no development build of torch after 9.1.0 with its"),
        (("measure", "--cases", "("), "is no regular expression"),
    ],
)
def test_bad_input_is_one_line(
    project: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    status, _, errors = _run(project, tmp_path, *arguments)
    assert status in {1, 2}
    assert len(errors.splitlines()) == 1
    assert message in errors
