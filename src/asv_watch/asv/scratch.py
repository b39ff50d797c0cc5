"""Real asv runs whose results stay out of the tracked ones."""

from __future__ import annotations

import json
from pathlib import Path

import asv.util

from asv_watch.asv.commands import run_asv
from asv_watch.asv.declared import SCRIPTS
from asv_watch.asv.selection import Selection
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.progress import Progress
from asv_watch.records.git import ask_git, top_of
from asv_watch.records.history import History
from asv_watch.records.loading import load_history
from asv_watch.records.records import Commit


class ScratchProject:
    """A folder from which asv measures another checkout, in that one's environments.

    Suites, environments, launch method and every other setting are the checkout's own;
    only results and pages go into the folder.
    """

    def __init__(self, folder: Path, checkout: Path, repository: Path) -> None:
        """Write the folder's asv.conf.json.

        Args:
            folder: made if it is missing.
            checkout: with the suites in its working tree.
            repository: whose commits are measured.
        """
        self._folder = folder
        self._repository = repository
        settings = asv.util.load_json(str(checkout / "asv.conf.json"), js_comments=True)
        settings |= {
            "repo": top_of(repository),
            "benchmark_dir": str(checkout / settings.get("benchmark_dir", "benchmarks")),
            "env_dir": str(checkout / settings.get("env_dir", "env")),
            "results_dir": str(self.results),
            "html_dir": str(folder / "html"),
        }
        settings |= {key: str(checkout / settings[key]) for key in SCRIPTS if settings.get(key)}
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "asv.conf.json").write_text(json.dumps(settings, indent=1), encoding="utf-8")

    @property
    def results(self) -> Path:
        """Folder of the results."""
        return self._folder / "results"

    def measure(
        self,
        commit: str,
        environment: EnvironmentSpec,
        machine: str,
        selection: Selection,
        progress: Progress,
    ) -> None:
        """Measure a commit as `make bench` does.

        Args:
            commit: hash.
            environment: environment.
            machine: name under which this machine is registered with asv.
            selection: cases to measure.
            progress: receives every case.

        Raises:
            WatchError: asv failed as a whole.
        """
        where = ["--machine", machine, "--environment", environment.name]
        arguments = ["run", *where, f"{commit}^!"]
        run_asv(self._folder, arguments, progress, selection=selection)

    def discover(self, commit: str, environment: EnvironmentSpec, machine: str) -> None:
        """List the checkout's benchmarks in `results`; make the environment if it is missing.

        Args:
            commit: hash of one that can be installed.
            environment: environment.
            machine: name under which this machine is registered with asv.

        Raises:
            WatchError: asv failed.
        """
        where = ["--machine", machine, "--environment", environment.name]
        arguments = ["run", *where, "--bench", "just-discover", f"{commit}^!"]
        run_asv(self._folder, arguments, Progress({}))

    def history(self, commit: str) -> History:
        """Return what was measured of the commit.

        Raises:
            WatchError: nothing was.
        """
        subject = ask_git(self._repository, "log", "-1", "--format=%s", commit)
        return load_history(self.results, (Commit(commit, 0, subject, (), 0),))
