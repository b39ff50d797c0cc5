"""Measures on a machine with a GPU and torch that is at hand for minutes, without a package index.

``python tools/gpu.py pack FOLDER`` puts the repository, git, this file and the wheels that such a
machine lacks into a folder. There, ``python3 FOLDER/gpu.py measure OUT MACHINE`` runs `COMMANDS`
with the packages of its own interpreter, until ``--minutes`` are over. After each command, and if
it is ended, ``OUT/results.tar.gz`` has what was measured: unpack it in the checkout.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import venv
from collections.abc import Sequence
from pathlib import Path

_TIMES = r"\.\w+\.time_\w+\("
_EAGER_OR_GRAPH = (
    rf"^((plain|time_series|small_cnns){_TIMES}.*'cuda'|(plain_graphs|modes){_TIMES}.*'cudagraph')"
)
_ON_THE_CPU = rf"^(plain|time_series|small_cnns|batches){_TIMES}.*'cpu'(\)|.*'source')"
_FIVE = "(darnn|dsanet|lstnet|tpa_lstm|patchtst)"
_PASSES = r"\.\w+\.(time_\w+\('\w+'), 'cuda'"
_IMPLEMENTATIONS = (
    *("compare", "--cases", rf"^plain{_PASSES}\)"),
    *("--against", rf"^(?:time_series|small_cnns){_PASSES}\)"),
    *("--against", rf"^plain_compiled{_PASSES}, 'compiled'"),
    *("--against", rf"^plain_graphs{_PASSES}, 'cudagraph'"),
)
COMMANDS: tuple[tuple[int, Sequence[str]], ...] = (
    (5, _IMPLEMENTATIONS),
    (3, ("bench", "--cases", _EAGER_OR_GRAPH)),
    (2, ("bench", "--cases", _ON_THE_CPU)),
    (3, ("bench", "--cases", rf"^batches{_TIMES}'{_FIVE}', .*, (1|'all'), (1|32|'source'|256)\)")),
    (4, ("compare", "--before", "v0.5.0", "--cases", _EAGER_OR_GRAPH)),
    (2, ("bench", "--cases", rf"^(pretrained|real_sizes|variants){_TIMES}.*'cuda'")),
)
"""Commands of asv-watch, the most useful first: plain, tuned, compiled and CUDA graph as sides of
one measurement; values of eager passes and graphs; the CPU of the same machine; batches; the
newest commit against an older one; next steps, long windows and bf16. The number is a share of the
time; what a command leaves of its own is for those after it."""
_PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
_RESERVE_S = 20.0
"""Seconds at the end for what the last command does after its budget, such as publishing."""


def _requirements(project: Path) -> list[str]:
    text = (project / "packages/asv-watch/pyproject.toml").read_text(encoding="utf-8")
    return list(tomllib.loads(text)["project"]["dependencies"])


def pack(folder: Path, python: str, present: Sequence[str]) -> None:
    """Fill a folder at home: what is committed, git, and the wheels that are not present there."""
    wheels = folder / "wheels"
    wheels.mkdir(parents=True)
    bundle = ["git", "bundle", "create", "--quiet", str(folder / "project.bundle")]
    subprocess.run([*bundle, "HEAD", "main", "--tags"], check=True)
    for file in (shutil.which("git") or "git", __file__):
        shutil.copy(file, folder)
    if needed := _requirements(Path.cwd()):
        options = [f"--platform={platform}" for platform in _PLATFORMS]
        options += ["--only-binary=:all:", "--quiet", f"--python-version={python}"]
        download = [sys.executable, "-m", "pip", "download", *options, f"--dest={wheels}"]
        subprocess.run([*download, *needed], check=True)
    for wheel in (file for name in present for file in wheels.glob(f"{name}-*")):
        wheel.unlink()


def prepare(packed: Path) -> tuple[Path, Path]:
    """Return the project, and a Python that has this one's packages and those that it lacks."""
    work = Path(tempfile.gettempdir(), "measured-on-gpu")  # fixed, as it is in names of results
    shutil.rmtree(work, ignore_errors=True)
    project, environment = work / "project", work / "environment"
    clone = ["git", "-c", "advice.detachedHead=false", "clone", "--quiet"]
    subprocess.run([*clone, packed / "project.bundle", project], check=True)
    main = ["git", "update-ref", "refs/heads/main", "origin/main"]
    subprocess.run(main, cwd=project, check=True)
    venv.create(environment, symlinks=True)
    [packages] = environment.glob("lib/python*/site-packages")
    folders = [path for path in sys.path if path.endswith("-packages")]
    adding = "".join(f"import site; site.addsitedir({path!r})\n" for path in folders)
    (packages / "installed.pth").write_text(adding, encoding="utf-8")
    python = environment / "bin/python"
    if needed := _requirements(project):
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index"]
        subprocess.run([*pip, f"--find-links={packed / 'wheels'}", *needed], check=True)
    return project, python


def measure(out: Path, seconds: float, machine: str) -> None:
    """Run the commands one after the other, each for its share of the time that is left."""
    end, packed = time.monotonic() + seconds - _RESERVE_S, Path(__file__).resolve().parent
    os.environ["PATH"] += f"{os.pathsep}{packed}"  # its git, where the machine has none
    out.mkdir(parents=True, exist_ok=True)
    project, python = prepare(packed)
    results = project / "results" / machine
    for folder in results.parent.glob("*/"):
        if folder != results:
            shutil.rmtree(folder)  # so that publishing takes less time
    results.mkdir(exist_ok=True, parents=True)
    variables = os.environ | {"PYTHONPATH": f"{project}/packages/asv-watch/src:{project}/src"}
    for number, (share, command) in enumerate(COMMANDS):
        budget = (end - time.monotonic()) * share / sum(shares for shares, _ in COMMANDS[number:])
        if budget < 1:
            print("the time is over", flush=True)
            return
        options = ["--budget", f"{budget:.0f}s", "--python", str(python), "--machine", machine]
        print(f"\n{' '.join([*command, *options])}", flush=True)
        watch = [str(python), "-m", "asv_watch.cli", *command, *options]
        try:
            subprocess.run(watch, cwd=project, env=variables, check=False)
        finally:
            with tarfile.open(out / "results.tar.gz", "w:gz") as archive:
                archive.add(results, f"results/{machine}")


def main(arguments: Sequence[str]) -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="gpu.py")
    actions = parser.add_subparsers(dest="action", required=True)
    packing = actions.add_parser("pack", help="at home: fill a folder for the machine")
    packing.add_argument("folder", type=Path)
    packing.add_argument("present", nargs="*", help="packages that it has, such as scipy")
    packing.add_argument("--python", default="3.12", help="its Python")
    measuring = actions.add_parser("measure", help="on the machine: measure until time is over")
    measuring.add_argument("out", type=Path, help="folder for results.tar.gz")
    measuring.add_argument("machine", help="name of the results, such as h200")
    measuring.add_argument("--minutes", type=float, default=9.0)
    options = parser.parse_args(arguments)
    try:
        if options.action == "pack":
            pack(options.folder, options.python, options.present)
            return
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        measure(options.out.resolve(), 60 * options.minutes, options.machine)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"gpu.py: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
