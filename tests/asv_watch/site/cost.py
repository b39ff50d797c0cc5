"""What publishing costs, with asv's own publish and with this site, on a generated history.

python tests/asv_watch/site/cost.py --commits 1000 --series 200
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCES = Path(__file__).parents[3] / "src"
CONFIGURATION = {
    "version": 1,
    "project": "torchspeed",
    "repo": "repository",
    "branches": ["main"],
    "results_dir": "results",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=1000)
    parser.add_argument("--series", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "history"
        generator = Path(__file__).parents[1] / "generator.py"
        size = ["--commits", str(options.commits), "--series", str(options.series)]
        subprocess.run([sys.executable, str(generator), str(root), *size], check=True)
        for name, plugins in (("alone", []), ("ours", [".asv_watch"])):
            settings = {**CONFIGURATION, "html_dir": name, "plugins": plugins}
            (root / f"{name}.json").write_text(json.dumps(settings))
        newest = _files_of_newest_commit(root)
        for _ in range(options.rounds):
            for name in ("alone", "ours"):
                shutil.rmtree(root / name, ignore_errors=True)
            _report("asv's own", root, "alone")
            for path in newest:
                path.rename(root / path.name)
            _report("this site", root, "ours")
            for path in newest:
                (root / path.name).rename(path)
            _report("one new commit", root, "ours")
            _report("nothing changed", root, "ours")


def _files_of_newest_commit(root: Path) -> list[Path]:
    """What is stored of the newest measured commit."""
    commits = subprocess.run(
        ["git", "-C", str(root / "repository"), "rev-list", "main"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    result = (list(root.glob(f"results/*/{commit[:8]}-*")) for commit in commits)
    return next(filter(None, result))


def _report(what: str, root: Path, name: str) -> None:
    cpu, wall = _publish(root, name)
    print(f"{what:16} {cpu:6.2f} s of CPU {wall:6.2f} s", flush=True)


def _publish(root: Path, name: str) -> tuple[float, float]:
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "asv", "--config", str(root / f"{name}.json"), "publish"],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.perf_counter() - start


if __name__ == "__main__":
    main()
