"""A new user's first hour: clone, `make bench`, look; or with asv alone.

One real clone, one real environment with real torch, real asv, shared by the
tests below, which run in order. torch comes from a cache: what these tests run with.
"""

import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from tests.conftest import ROOT, git, run

CASES = r"^(small_cnns.*_forward.*lenet5|time_series.TimeSeries.time_forward.*tpa_lstm)', 'cpu'"
LIMITS = {
    "small_cnns.SmallCNNs.time_forward": (1e-5, 10),
    "small_cnns.SmallCNNs.peakmem_forward": (1e8, 1e11),
    "time_series.TimeSeries.time_forward": (1e-5, 10),
}
"""What `CASES` measure: seconds or bytes, between two limits."""
OURS = re.compile("MAKEFLAGS|MAKELEVEL|MFLAGS|MACHINE|TORCH|CASES|MODELS|VIRTUALENV_.*")
"""What a `make test` above us has in its environment, and a new user has not."""

LARGE = r"(torch|torchvision|triton|nvidia[-_].*|cuda[-_].*)"
"""Packages that take 5 GB in an environment, and all others 0.5 GB."""


def _pack_installed(wheels: Path) -> None:
    """Pack what is installed here of `LARGE` into wheels that hold links to it.

    pip prefers them to those of an index, of which they have the name, release and requirements.
    """
    installed = wheels / "installed"
    installed.mkdir(parents=True)
    for package in metadata.distributions():
        name = package.name.replace("-", "_")
        if not re.fullmatch(LARGE, name):
            continue
        about = package.read_text("WHEEL") or ""
        tags = [tag.split("-") for tag in re.findall(r"^Tag: (.*)", about, re.MULTILINE)]
        tag = "-".join(".".join(dict.fromkeys(part)) for part in zip(*tags, strict=True))
        for top in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
            link = installed / top
            if not (top.endswith(".dist-info") or link.exists()):
                link.symlink_to(str(package.locate_file(top)))
        release = f"{name}-{package.version}"
        with zipfile.ZipFile(wheels / f"{release}-1-{tag}.whl", "w") as wheel:
            wheel.writestr(f"{name}.pth", f"{installed}\n")
            wheel.writestr(f"{release}.dist-info/METADATA", package.read_text("METADATA") or "")
            wheel.writestr(f"{release}.dist-info/WHEEL", about)
            wheel.writestr(f"{release}.dist-info/RECORD", "")


class NewUser:
    """A person with an empty home folder and a fresh clone."""

    def __init__(self, clone: Path, home: Path, wheels: Path) -> None:
        self.clone = clone
        # A new home, but not 5 GB of torch once more.
        cache = run(sys.executable, "-m", "pip", "cache", "dir", status=None).stdout.strip()
        inherited = {name: text for name, text in os.environ.items() if not OURS.fullmatch(name)}
        self._environment = inherited | {
            "HOME": str(home),
            "PIP_CACHE_DIR": cache,
            "PIP_FIND_LINKS": f"{wheels} {os.environ.get('PIP_FIND_LINKS', '')}".strip(),
            "PIP_NO_COMPILE": "0",  # `--no-compile`: what is imported is compiled then
        }

    def does(self, *command: str) -> str:
        """Run a command in the clone; return all that it prints, errors first."""
        nothing = subprocess.DEVNULL
        done = run(*command, cwd=self.clone, env=self._environment, stdin=nothing)
        return done.stderr + done.stdout


@pytest.fixture(scope="module")
def user() -> Iterator[NewUser]:
    # Not pytest's own folder, which keeps that of a run that failed: 1 GB.
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as folder:
        clone, home, wheels = Path(folder, "clone"), Path(folder, "home"), Path(folder, "wheels")
        home.mkdir()
        _pack_installed(wheels)
        git(Path(folder), "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone))
        # One commit: a night works through all that are not measured.
        git(clone, "checkout", "--quiet", "--orphan", "begin")
        shutil.rmtree(clone / "results")
        (clone / "results").mkdir()
        git(clone, "commit", "--quiet", "--all", "--message", "A history of its own")
        git(clone, "branch", "--quiet", "--move", "--force", "main")
        yield NewUser(clone, home, wheels)


@pytest.fixture(scope="module")
def benched(user: NewUser) -> str:
    return user.does("make", "bench", "MACHINE=a-new-machine", f"CASES={CASES}")


@pytest.mark.timeout(1800)
def test_make_bench_measures_times_and_memory_of_the_models(user: NewUser, benched: str) -> None:
    folder = user.clone / "results" / "a-new-machine"
    [path] = folder.glob("*-*.json")
    stored = json.loads(path.read_text())
    results = {
        name: dict(zip(stored["result_columns"], row, strict=False))
        for name, row in stored["results"].items()
    }
    assert results.keys() == LIMITS.keys()
    for name, (low, high) in LIMITS.items():
        [value] = [v for v in results[name]["result"] if math.isfinite(v)]
        assert low < value < high
    assert results["time_series.TimeSeries.time_forward"]["samples"], "samples are recorded"
    facts = json.loads((folder / "machine.json").read_text())
    assert all(facts[fact] for fact in ("os", "arch", "cpu", "num_cpu", "ram"))


def test_it_tells_the_outcome_and_the_site_shows_the_numbers(user: NewUser, benched: str) -> None:
    case = re.compile(r"^round 1 \[1/\d\] .*time_\w+\('\w+', 'cpu'\)  .* left$", re.MULTILINE)
    assert case.search(benched)
    assert "3 ok" in benched
    assert benched.splitlines()[-1].endswith("open its index.html")
    page = (user.clone / "html" / "index.html").read_text()
    assert "a-new-machine" in page
    assert "tpa_lstm" in page
    assert re.search(r"\d[\d.]*\s(µs|ms)", page), "a time, readable without JavaScript"
    changed = git(user.clone, "status", "--porcelain", "--untracked-files=all").splitlines()
    assert changed
    assert all(line.split()[1].startswith("results/") for line in changed)


@pytest.mark.timeout(1200)
def test_asv_alone_works_and_says_what_asv_watch_adds(user: NewUser, benched: str) -> None:
    environment = user.clone.parent / "bare"
    user.does(sys.executable, "-m", "venv", str(environment))
    user.does(str(environment / "bin/pip"), "install", "--quiet", "asv==0.6.6", "virtualenv")
    asv = str(environment / "bin/asv")
    user.does(asv, "machine", "--yes", "--machine", "with-asv-alone")
    [made] = (user.clone / "results" / "a-new-machine").glob("*-*.json")
    measuring = user.does(
        *(asv, "run", "--quick", "--machine", "with-asv-alone"),
        *("--environment", json.loads(made.read_text())["env_name"]),
        *("--bench", "^plain.*_forward.*lenet5", "HEAD^!"),
    )
    [path] = (user.clone / "results" / "with-asv-alone").glob("*-*.json")
    assert "plain.PlainModels.time_forward" in json.loads(path.read_text())["results"]
    for output in (measuring, user.does(asv, "publish")):
        assert "(asv_watch is missing): asv goes on with its own site." in output
        assert "pip install ./packages/asv-watch" in output
        assert "Traceback" not in output
    assert (user.clone / "html/asv.js").exists(), "the page of asv itself"
