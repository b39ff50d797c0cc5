"""A small project that real asv measures in this Python, as a person runs it by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

CONFIGURATION: dict[str, Any] = {
    "version": 1,
    "project": "p",
    "repo": ".",
    "branches": ["main"],
    "environment_type": "virtualenv",
    "plugins": [".asv_watch"],
    "gpu_cases": "'cuda",
    "matrix": {"env_nobuild": {"OMP_NUM_THREADS": ["1"], "MALLOC_TOP_PAD_": ["65536"]}},
}


def suite_files(suite: str, **settings: Any) -> dict[str, str]:
    """The files of a repository with one suite; settings are added to asv.conf.json."""
    return {
        "asv.conf.json": json.dumps(CONFIGURATION | settings),
        "benchmarks/__init__.py": "",
        "benchmarks/suite.py": suite,
    }


class Project:
    """A repository with a suite, and results of machine ``m``."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.results = folder / "results" / "m"
        self._home = home

    def start(
        self, *arguments: str, asv: tuple[str, ...] = ("-m", "asv"), **variables: str
    ) -> subprocess.Popen[str]:
        """Start an asv command, as the leader of a process group of its own."""
        environment = os.environ | {
            "CUDA_VISIBLE_DEVICES": "",
            "HOME": str(self._home),
            **variables,
        }
        return subprocess.Popen(
            [sys.executable, *asv, *arguments],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def asv(self, *arguments: str, status: int = 0, **variables: str) -> str:
        """Run an asv command to its end; return its output."""
        process = self.start(*arguments, asv=("-m", "asv"), **variables)
        output, _ = process.communicate()
        assert process.returncode == status, output
        return output

    def run_arguments(self, *arguments: str, rounds: int = 1) -> list[str]:
        """The command line of an ``asv run`` of HEAD in this Python."""
        return [
            *("run", "--machine", "m", f"--attribute=rounds={rounds}"),
            *("-E", f"existing:{sys.executable}", "--set-commit-hash", "HEAD", *arguments),
        ]

    def result_file(self) -> Path:
        [path] = self.results.glob("*-*.json")
        return path

    def side_file(self, kind: str) -> Path:
        return self.result_file().with_suffix(f".{kind}.jsonl")

    def lines(self, kind: str = "outcomes") -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.side_file(kind).read_text().splitlines()]

    def stored(self, column: str, benchmark: str) -> Any:
        """A column of a benchmark's row in the result file."""
        content = json.loads(self.result_file().read_text())
        row = dict(zip(content["result_columns"], content["results"][benchmark], strict=False))
        return row.get(column)
