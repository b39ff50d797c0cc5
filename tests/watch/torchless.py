"""A project whose environment is made in seconds: without torch, and with nothing to build."""

from __future__ import annotations

import sys
from typing import Any

CONFIGURATION: dict[str, Any] = {
    "version": 1,
    "project": "p",
    "repo": ".",
    "branches": ["main"],
    "environment_type": "virtualenv",
    "env_dir": ".asv/env",
    "results_dir": "results",
    "pythons": [f"{sys.version_info.major}.{sys.version_info.minor}"],
    "matrix": {"env_nobuild": {"OMP_NUM_THREADS": ["1"]}},
    "build_command": [],
    "install_command": ["python --version"],
    "uninstall_command": ["python --version"],
    "plugins": [".torchspeed.watch.asv.hooks"],
}
