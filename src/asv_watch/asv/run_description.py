"""Describes where an ``asv run`` measures: the machine, its state before, and the environment."""

from __future__ import annotations

import json
import os
import time
from typing import Any

import asv.util
from asv.console import log

from asv_watch.machine.facts import machine_facts, machine_state
from asv_watch.probes import paths as probes

_ASKING_TIMEOUT = 120  # s: importing torch from a cold disk takes most of a minute


def describe_run(env: Any) -> dict[str, Any]:
    """Return the record of a run that begins now (`asv_watch.records.run_records`).

    Args:
        env: asv's ``Environment``, which is asked about itself.
    """
    record: dict[str, Any] = {"at": int(time.time()), "machine": machine_facts()}
    record |= {"environment": {}, "details": {}}
    try:
        output = env.run(
            ["-P", str(probes.ENVIRONMENT)],
            timeout=_ASKING_TIMEOUT,
            env=os.environ | env.env_vars,
        )
        answer = json.loads(output.splitlines()[-1])
        record |= {"environment": answer["facts"], "details": answer["details"]}
    except (asv.util.ProcessError, ValueError, LookupError) as error:
        # The values are as good without a description of the environment.
        log.warning(f"the environment could not be asked about itself: {error}")
    return record | {"before": machine_state()}
