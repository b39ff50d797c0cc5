"""Lists a checkout's benchmarks outside its tracked results."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import asv.util

from asv_watch.asv.commands import run_asv
from asv_watch.asv.declared import SCRIPTS
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.progress import Progress
from asv_watch.records.git import top_of


def discover(
    folder: Path,
    checkout: Path,
    repository: Path,
    commit: str,
    environments: Iterable[EnvironmentSpec],
    machine: str,
) -> Path:
    """List the suites of a checkout's working tree; make environments where they are missing.

    Suites, environments, launch method and every other setting are the checkout's own; only the
    list goes into the folder.

    Returns:
        A folder of results that holds the list.

    Raises:
        WatchError: asv failed.
    """
    results = folder / "results"
    settings = asv.util.load_json(str(checkout / "asv.conf.json"), js_comments=True)
    settings |= {
        "repo": top_of(repository),
        "benchmark_dir": str(checkout / settings.get("benchmark_dir", "benchmarks")),
        "env_dir": str(checkout / settings.get("env_dir", "env")),
        "results_dir": str(results),
        "html_dir": str(folder / "html"),
    }
    settings |= {key: str(checkout / settings[key]) for key in SCRIPTS if settings.get(key)}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "asv.conf.json").write_text(json.dumps(settings, indent=1), encoding="utf-8")
    for name in dict.fromkeys(environment.name for environment in environments):
        where = ["--machine", machine, "--environment", name]
        arguments = ["run", *where, "--bench", "just-discover", f"{commit}^!"]
        run_asv(folder, arguments, Progress({}))
    return results
