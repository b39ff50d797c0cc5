"""The step that records the machine and its environment, as stored runs do."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asv_watch import probes
from asv_watch.machine.facts import machine_facts, machine_state

if TYPE_CHECKING:
    from tools.gpu.session import Session

_PACKAGES = ("torch", "torchvision", "scikit-learn")
_FACTS = Path(__file__).resolve().parent.parent.parent / "src/torchspeed/probes/facts.py"


def run(session: Session, deadline: float) -> None:
    """Record machine and environment; where a script fails, the record has its error instead."""
    record: dict[str, Any] = {"machine": machine_facts(), "environment": {}, "details": {}}
    scripts = [[str(probes.ENVIRONMENT), *_PACKAGES], [str(_FACTS)]]
    for script in scripts:
        try:
            done = subprocess.run(
                [sys.executable, "-P", *script],
                env=session.side(session.prepared.newest).variables,
                capture_output=True,
                text=True,
                timeout=max(1.0, deadline - time.monotonic()),
                check=True,
            )
        except subprocess.SubprocessError as error:
            reason = str(getattr(error, "stderr", "") or error)[-999:]
            record["details"][f"failed: {Path(script[0]).name}"] = reason
            continue
        answer = json.loads(done.stdout.splitlines()[-1])
        record["environment"] |= answer.get("facts", {})
        record["details"] |= answer.get("details", {})
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    session.results.add("machine", **record, python=python, before=machine_state())
