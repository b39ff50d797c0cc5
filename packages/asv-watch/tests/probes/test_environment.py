"""An environment tells about itself, whatever commit it holds."""

from __future__ import annotations

import json
import os
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from asv_watch import probes
from tests.conftest import run


def run_probe(script: Path, folder: Path, *arguments: str, **variables: str) -> Any:
    """What a script says as it is run by `asv run`: from elsewhere, without this package."""
    environment = {"PATH": os.environ["PATH"], **variables}
    done = run(sys.executable, "-P", script, *arguments, cwd=folder, env=environment)
    return json.loads(done.stdout)


def test_python_packages_and_variables_are_told(tmp_path: Path) -> None:
    variables = {"OMP_NUM_THREADS": "1", "MALLOC_TOP_PAD_": "65536", "EDITOR": "hush"}
    output = run_probe(probes.ENVIRONMENT, tmp_path, "msgspec", "no-such-package", **variables)
    facts = output["facts"]
    assert facts["interpreter"].startswith("CPython")
    assert facts["package msgspec"] == metadata.version("msgspec")
    assert "package no-such-package" not in facts
    assert facts["variable MALLOC_TOP_PAD_"] == "65536"
    assert "hush" not in json.dumps(output)
    assert output["details"] == {"asv_runner": metadata.version("asv_runner")}


def test_an_import_is_timed_by_the_name_of_its_distribution(tmp_path: Path) -> None:
    for distribution in ("msgspec", "pyyaml"):  # the second installs a module of another name
        assert 0 < run_probe(probes.IMPORTING, tmp_path, distribution) < 60
