"""What a project declares of its measured processes, in keys of asv.conf.json that asv ignores."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from asv_watch.errors import WatchError
from asv_watch.records.release_order import release_order

SCRIPTS = ("facts_script", "profiler")
"""Keys that name a script."""


@dataclass(frozen=True)
class Declared:
    """How measured processes are started, and the project's own scripts for them."""

    preload: tuple[str, ...] = ()
    """Modules that a process imports once, before cases are forked from it."""
    fork_safe_from: Mapping[str, str] = field(default_factory=dict)
    """Requirement to its first release with which a forked process is as fast as any other."""
    gpu_cases: str = ""
    """Regular expression of the cases that use a GPU, which must never be initialised in a process
    that forks, and has its memory for one case; empty for none."""
    facts_script: Path | None = None
    """Prints what else can change a value, as JSON: ``{"facts": {…}, "details": {…}}``."""
    profiler: Path | None = None
    """Prints the operators of one case, as JSON (`asv_watch.explain.operators`)."""

    def uses_gpu(self, case: str) -> bool:
        """Tell whether a case uses a GPU."""
        return bool(self.gpu_cases) and re.search(self.gpu_cases, case) is not None

    def forks_well(self, requirements: Mapping[str, str]) -> bool:
        """Tell whether none of some requirements makes forked processes slower.

        Args:
            requirements: name to release.
        """
        return all(
            release_order(requirements[name]) >= release_order(first)
            for name, first in self.fork_safe_from.items()
            if requirements.get(name)
        )


def read_declared(conf: Any, root: Path) -> Declared:
    """Read asv's settings; scripts are found from the folder of asv.conf.json.

    Raises:
        WatchError: ``gpu_cases`` is not a regular expression.
    """
    try:
        re.compile(str(getattr(conf, "gpu_cases", "")))
    except re.error as error:
        raise WatchError(
            f'"gpu_cases" of asv.conf.json is not a regular expression ({error}); correct it'
        ) from error
    scripts = {key: getattr(conf, key, "") for key in SCRIPTS}
    return Declared(
        preload=tuple(getattr(conf, "preload", ())),
        fork_safe_from=dict(getattr(conf, "fork_safe_from", {})),
        gpu_cases=str(getattr(conf, "gpu_cases", "")),
        **{key: root / script if script else None for key, script in scripts.items()},
    )


class _Current:
    declared = Declared()


def declare(declared: Declared) -> None:
    """Set what `declared` returns in this process, which runs a command of asv."""
    _Current.declared = declared


def declared() -> Declared:
    """Return what the project of the running asv command declares."""
    return _Current.declared
