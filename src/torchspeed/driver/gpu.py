"""Whether this machine has a CUDA device, told without torch."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from pathlib import Path


@functools.cache
def cuda_is_plainly_absent() -> bool:
    """True only where nothing at all speaks for a CUDA device.

    A wrong "present" costs a process per case, a wrong "absent" loses figures:
    in doubt this says False, and the case itself asks torch.
    """
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and visible.strip() in {"", "-1"}:
        return True
    nodes = [
        *Path("/dev").glob("nvidia[0-9]*"),
        *Path("/dev").glob("dxg"),
        *Path("/dev").glob("nvhost*"),
    ]
    if nodes:
        return False
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return True
    return subprocess.run([tool, "-L"], capture_output=True, check=False).returncode != 0
