"""The commands of pages print what the pages show, but for its numbers.

The project is a small one, with cases named as torchspeed's and a clock of its own.
"""

import itertools
import os
import re
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.records.loading import load_history
from asv_watch.versions.git import read_commits
from tests import torchless
from tests.clockwork import CLOCK, package
from tests.conftest import ROOT, commit, git, run

SUITE = (
    CLOCK
    + """
class PlainModels:
    params = (["lenet5"], ["cpu", "cuda"])
    param_names = ("model", "device")
    timer = Clock.read
    sample_time = 0.002
    warmup_time = 0
    rounds = 1
    repeat = 5

    def setup(self, model, device):
        if device == "cuda":
            raise NotImplementedError("no GPU on this machine")

    def time_forward(self, model, device):
        from package import SECONDS
        Clock.now += random.gauss(SECONDS["slow"], 0.002 * SECONDS["slow"])

    def peakmem_forward(self, model, device):
        return bytearray(20_000_000)
"""
)

_MASKS = (
    (r"\b[0-9a-f]{7,40}\b", "H"),
    (r"torch [\d.]+|virtualenv-[\w.-]+", "E"),
    (r"[\d,]*\d(\.\d+)?", "N"),
    (r"(N min )?N s left", "N left"),
    (r"N [µnm]s\b", "N s"),
    (r"[+±−-]N", "N"),
    (r"[-=]{2,}|\s+", " "),
)
"""What differs from run to run, and what stands for it."""


def shape(line: str) -> str:
    """Return a line with letters in place of its numbers, hashes and environments."""
    for pattern, letter in _MASKS:
        line = re.sub(pattern, letter, line)
    return line.strip()


def steps(page: str) -> list[tuple[str, list[str]]]:
    """Return each block of commands, with the lines that the page shows after it."""
    blocks = re.findall(r"^```(sh|text)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    found: list[tuple[str, list[str]]] = []
    for kind, body in blocks:
        if kind == "sh":
            found.append((body, []))
        else:
            found[-1][1].extend(line for line in body.splitlines() if line.strip(" ."))
    return found


def absent(shown: list[str], printed: str) -> list[str]:
    """Return the lines of a page that no line of an output looks like."""
    shapes = {shape(line) for line in printed.splitlines()}
    return [line for line in shown if shape(line) not in shapes]


PARTS = 2
ROLES = ("AUTHOR", "COMMITTER")


def _shown_step(page: str, command: str) -> tuple[str, list[str]]:
    """Return the one block of a page that has a command, and the lines that the page shows."""
    blocks = steps((ROOT / "docs" / page).read_text())
    [step] = [step for step in blocks if command in step[0] and step[1]]
    return step


def _give_to_part(repository: Path, remainder: int, parts: int, subject: str) -> None:
    """Reword the newest commit until its hash puts it into one of the parts."""
    attempts = itertools.count(1)
    while zlib.crc32(git(repository, "rev-parse", "HEAD").encode()) % parts != remainder:
        message = f"{subject}\n\nAttempt {next(attempts)}"
        git(repository, "commit", "--quiet", "--amend", "--message", message)


@pytest.fixture
def project(make_project: Callable[..., Path], made_environment: Path, tmp_path: Path) -> Path:
    """A repository of three commits; the two newest belong to two parts, the last is slower."""
    torchless.give_command(tmp_path)
    setup = f"cp -R {tmp_path}/.venv . && mkdir -p .asv/env && cp -al {made_environment} .asv/env"
    settings = {"measured_paths": ["src"]}
    files = {
        "benchmarks/plain.py": SUITE,
        "src/package.py": package(),
        "Makefile": f"setup:\n\t@test -d .venv || ({setup})\n",
        ".gitignore": ".asv/\n.venv/\nhtml/\n",
    }
    root = make_project("", files, **settings)
    first = git(root, "rev-parse", "HEAD")
    for number in range(PARTS):
        slow = {"slow": 0.0012} if number else {}
        commit(root, {"src/package.py": f"# {number}\n{package(**slow)}"}, f"Commit {number}")
        _give_to_part(root, number, PARTS, f"Commit {number}")
    files = torchless.project_files("", files, **settings, reference=first)
    commit(root, {"asv.conf.json": files["asv.conf.json"]}, "Name the reference")
    return root


def _printed(script: str, folder: Path, **variables: str) -> str:
    path = f"{folder}/.venv/bin{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"HOME": str(folder), "PATH": path} | variables
    done = run("sh", "-euc", script, cwd=folder, env=environment)
    return done.stdout + done.stderr


@pytest.mark.timeout(900)
def test_parts_of_a_history_print_what_the_page_shows(project: Path, tmp_path: Path) -> None:
    part, shown = _shown_step("nightly.md", "--part")
    shared = tmp_path / "shared.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(project), str(shared))
    nights = [
        _printed(
            part.replace("/4", f"/{PARTS}"),
            tmp_path,
            REPOSITORY=str(shared),
            SLURM_ARRAY_TASK_ID=str(number),
            **{f"GIT_{role}_{fact}": "a" for role in ROLES for fact in ("NAME", "EMAIL")},
        )
        for number in range(1, PARTS + 1)
    ]
    assert absent(shown, nights[0]) == [], nights[0]
    first, last = tmp_path / "part-1", tmp_path / f"part-{PARTS}"
    *commits, _ = read_commits(project)  # the last one changes nothing that is measured
    changing = {entry.hash for entry in commits}
    histories = [load_history(clone / "results", read_commits(clone)) for clone in (first, last)]
    measured = [{hash_ for series in each.series for hash_ in series.runs} for each in histories]
    assert measured[0] < measured[1] == changing, "the first measured a part"
    assert not histories[1].problems
    compared = {c.sitting.versions[-1].commit for c in histories[1].comparisons["cluster"]}
    assert compared >= changing - {commits[0].hash}, "the reference joins the parts"


def test_only_memory_is_measured_as_the_page_shows(project: Path) -> None:
    commands, shown = _shown_step("nightly.md", "--cases peakmem")
    _printed("make setup", project)
    printed = _printed(commands, project)
    assert shown
    assert absent(shown, printed) == [], printed


def test_installed_environments_are_compared_as_the_page_shows(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    commands, shown = _shown_step("compare.md", "--python")
    suite = SUITE.replace("package import", "engine import").replace('SECONDS["slow"]', "SECONDS")
    settings = torchless.INSTALLED | {"project": "engine"}
    project = make_project("", {"benchmarks/plain.py": suite}, **settings)
    torchless.give_command(project)
    for name, release, seconds in (("old", "1.0", 0.001), ("new", "1.1", 0.0012)):
        torchless.make_interpreter(project / name, release, seconds)
    printed = _printed(commands, project)
    assert shown
    assert absent(shown, printed) == [], printed
