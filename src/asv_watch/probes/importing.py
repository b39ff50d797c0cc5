"""What importing torch costs, and whether torch and torchvision fit each other.

Runs as a script in the environment that is measured, ``python -P importing.py [--check]``; it
needs nothing of this package. It prints one line of JSON: ``import_s``, CPU seconds of
``import torch``, and ``import_peak_bytes``, the peak resident set of the process after it. With
``--check`` it then imports torchvision too, calls one of its compiled operators, and ends with an
error where the two were built for different devices.
"""

from __future__ import annotations

import json
import resource
import sys
import time

_KIB = 1024


def import_torch() -> dict[str, float]:
    """Import torch and return what that cost."""
    began = time.process_time()
    import torch  # noqa: F401, PLC0415 - its import is what is measured

    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB
    return {"import_s": seconds, "import_peak_bytes": peak}


def check_pair() -> None:
    """Use torch and torchvision together.

    Raises:
        ImportError: they were built for different devices.
        Exception: whatever importing torchvision or calling its operator raises.
    """
    import torch  # noqa: PLC0415 - imported by then
    import torchvision  # noqa: PLC0415 - of the environment

    builds = [str(package.__version__).partition("+")[2] for package in (torch, torchvision)]
    if builds[0] != builds[1]:
        raise ImportError(
            f"torch was built for {builds[0] or 'no device'} and torchvision for "
            f"{builds[1] or 'no device'}"
        )
    torchvision.ops.nms(torch.tensor([[0.0, 0.0, 1.0, 1.0]]), torch.tensor([1.0]), 0.5)


if __name__ == "__main__":
    cost = import_torch()
    if "--check" in sys.argv[1:]:
        check_pair()
    print(json.dumps(cost))
