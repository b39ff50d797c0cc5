"""The package as the measured commit has it.

Suites of today run against packages of yesterday. What an old commit or an old release of
torch lacks is skipped with the reason; so is what this machine lacks.
"""

from __future__ import annotations

import inspect
from functools import lru_cache
from importlib import import_module
from typing import Any


def from_commit(module: str, name: str) -> Any:
    """Import ``name`` from ``torchspeed.<module>`` as the measured commit has it.

    Raises:
        NotImplementedError: The commit has no such module or name, or its environment lacks
            something that the module imports. asv skips the case with this reason.
    """
    try:
        return getattr(import_module(f"torchspeed.{module}"), name)
    except ModuleNotFoundError as error:
        reason = f"this commit or its environment has no {error.name}"
    except AttributeError:
        reason = f"this commit has no torchspeed.{module}.{name}"
    except ImportError as error:
        if str(error.name).partition(".")[0] == "torchspeed":
            raise  # the package imports from itself what it does not have: a defect
        reason = f"this environment is too old or too new: {error}"
    raise NotImplementedError(reason)


def options_of(function: Any, implementation: str, **options: Any) -> dict[str, Any]:
    """Return the options of a case for a function of the measured commit.

    Commits before there were two implementations of a model have the tuned ones.

    Raises:
        NotImplementedError: the function lacks an option.
    """
    accepted = inspect.signature(function).parameters
    if "implementation" in accepted or implementation != "tuned":
        options["implementation"] = implementation
    for name in options:
        if name not in accepted:
            raise NotImplementedError(f"{function.__name__} of this commit has no {name}")
    return options


def skip_what_cannot_run(device: str, workload: str | None = None) -> None:
    """Skip a case whose device is not here or whose workload the commit does not have.

    Raises:
        NotImplementedError: The reason.
    """
    absent = from_commit("devices", "missing_device")(device)
    if absent:
        raise NotImplementedError(absent)
    if workload is not None and workload not in from_commit("workloads", "list_workloads")():
        raise NotImplementedError(f"this commit has no workload {workload!r}")


@lru_cache
def device_peak(device: str) -> Any:
    """Return the peak of a device, which a process looks for once.

    On CUDA it is that of TF32, because cuDNN's convolutions take it by default.
    """
    return from_commit("measure.peak", "Peak")(device, tf32=device == "cuda")
