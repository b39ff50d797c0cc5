"""Imports the package as the measured commit has it.

Today's suites also run against older packages. A case that needs what an old commit, an old
release of torch or this machine lacks is skipped with the reason.
"""

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
            raise  # the package lacks a name that it imports from itself: a defect
        reason = f"this environment is too old or too new: {error}"
    raise NotImplementedError(reason)


def options_of(function: Any, implementation: str, **options: Any) -> dict[str, Any]:
    """Return a case's options as keyword arguments of a function of the measured commit.

    Commits from before models had two implementations have only the tuned ones.

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


def skip_what_cannot_run(
    device: str, workload: str | None = None, *, compiled: bool = False
) -> None:
    """Skip a case whose device or compiler is not here, or whose workload the commit lacks.

    Raises:
        NotImplementedError: One is missing; the message says which.
    """
    absent = from_commit("devices", "missing_device")(device)
    if compiled:
        absent = absent or from_commit("measure.compilation", "cannot_compile")(device)
    if absent:
        raise NotImplementedError(absent)
    if workload is not None and workload not in from_commit("workloads", "list_workloads")():
        raise NotImplementedError(f"this commit has no workload {workload!r}")


@lru_cache
def device_peak(device: str) -> Any:
    """Return the `Peak` of a device; a process searches for it once.

    On CUDA it is the peak of TF32, which cuDNN's convolutions use by default.
    """
    return from_commit("measure.peak", "Peak")(device, tf32=device == "cuda")
