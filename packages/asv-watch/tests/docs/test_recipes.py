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

from asv_watch.records.history import load_history
from asv_watch.versions.git import read_commits
from tests import torchless
from tests.clockwork import CLOCK, package
from tests.conftest import ROOT, commit, git, run

SUITE = f"""{CLOCK}
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

_MASKS = (
    (r"\b[0-9a-f]{7,40}\b", "H"),
    (r"torch [\d.]+|virtualenv-[\w.-]+", "E"),
    (r"[\d,]*\d(\.\d+)?", "N"),
    (r"(N min )?N s left", "N left"),
    (r"N [µnm]s\b", "N s"),
    (r"[+±−-]N", "N"),
    (r"[-=]{2,}|\s+", " "),
)


def shape(line: str) -> str:
    """Return a line with letters in place of what differs from run to run."""
    for pattern, letter in _MASKS:
        line = re.sub(pattern, letter, line)
    return line.strip()


def shown_step(page: str, command: str) -> tuple[str, set[str]]:
    """Return the one block of a page that has a command, and the lines that the page shows."""
    text = (ROOT / "docs" / page).read_text()
    steps: list[tuple[str, set[str]]] = []
    for kind, body in re.findall(r"^```(sh|text)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if kind == "sh":
            steps.append((body, set()))
        else:
            steps[-1][1].update(shape(line) for line in body.splitlines() if line.strip(" ."))
    [step] = [(script, shown) for script, shown in steps if command in script and shown]
    return step


def printed_by(script: str, folder: Path, **variables: str) -> set[str]:
    """Run a script of a page; return the lines that it prints."""
    path = f"{folder}/.venv/bin{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"HOME": str(folder), "PATH": path} | variables
    done = run("sh", "-euc", script, cwd=folder, env=environment)
    return set(map(shape, (done.stdout + done.stderr).splitlines()))


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
    for number, text in enumerate((f"# Same\n{package()}", package(slow=0.0012))):
        commit(root, {"src/package.py": text}, f"Commit {number}")
        attempts = itertools.count(1)
        while zlib.crc32(git(root, "rev-parse", "HEAD").encode()) % 2 != number:
            message = f"Commit {number}\n\nAttempt {next(attempts)}"
            git(root, "commit", "--quiet", "--amend", "--message", message)
    files = torchless.project_files("", files, **settings, reference=first)
    commit(root, {"asv.conf.json": files["asv.conf.json"]}, "Name the reference")
    return root


@pytest.mark.timeout(900)
def test_parts_of_a_history_print_what_the_page_shows(project: Path, tmp_path: Path) -> None:
    script, shown = shown_step("nightly.md", "--part")
    shared = tmp_path / "shared.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(project), str(shared))
    (tmp_path / ".gitconfig").write_text("[user]\nname = A\nemail = a@example.org\n")
    script = script.replace("/4", "/2")
    printed = [
        printed_by(script, tmp_path, REPOSITORY=str(shared), SLURM_ARRAY_TASK_ID=part)
        for part in ("1", "2")
    ]
    assert shown <= printed[0]
    *commits, _ = read_commits(project)  # the last one changes nothing that is measured
    changing = {entry.hash for entry in commits}
    clones = tmp_path / "part-1", tmp_path / "part-2"
    histories = [load_history(clone / "results", read_commits(clone)) for clone in clones]
    measured = [{hash_ for setup in each.setups.values() for hash_ in setup} for each in histories]
    assert measured[0] < measured[1] == changing, "the first measured a part"
    assert not histories[1].problems
    compared = {c.sitting.versions[-1].commit for c in histories[1].comparisons["cluster"]}
    assert compared >= changing - {commits[0].hash}, "the reference joins the parts"


def test_only_memory_is_measured_as_the_page_shows(project: Path) -> None:
    script, shown = shown_step("nightly.md", "--cases peakmem")
    printed_by("make setup", project)
    assert shown <= printed_by(script, project)


def test_installed_environments_are_compared_as_the_page_shows(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    script, shown = shown_step("compare.md", "--python")
    suite = SUITE.replace("package import", "engine import").replace('SECONDS["slow"]', "SECONDS")
    settings = torchless.INSTALLED | {"project": "engine"}
    project = make_project("", {"benchmarks/plain.py": suite}, **settings)
    torchless.give_command(project)
    for name, release, seconds in (("old", "1.0", 0.001), ("new", "1.1", 0.0012)):
        torchless.make_interpreter(project / name, release, seconds)
    assert shown <= printed_by(script, project)
