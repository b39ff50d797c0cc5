"""Prints facts about torch that can change measured values: its build, libraries and threads.

asv-watch runs it in the measured environment (``facts_script`` of asv.conf.json), and it imports
nothing from this package, so that it works for commits older than it. It fails where torch and
torchvision were built for different devices.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from importlib import metadata
from typing import Any

_VARIABLES = re.compile(r"(TORCH|PYTORCH|TORCHINDUCTOR|CUDA|CUBLAS|CUDNN|NCCL|NVIDIA_TF32)_")
_PACKAGES = ("numpy", "triton")
_BUILT_WITH = {
    "compiler": re.compile(r"- ((?:GCC|[Cc]lang|MSVC) .*)"),
    "BLAS": re.compile(r"BLAS_INFO=(\w+)"),
    "MKL": re.compile(r"Math Kernel Library Version ([\w.]+)"),
    "oneDNN": re.compile(r"MKL-DNN v([\w.]+)"),
    "OpenMP": re.compile(r"- OpenMP (\d+)"),
}
"""What to take from ``torch.__config__.show()``: name to pattern."""


def answer() -> dict[str, dict[str, str]]:
    """Return the facts and details that asv-watch records.

    ``facts`` can change a value without a change of the code; ``details`` are long texts of torch
    for people alone.
    """
    facts = {
        f"variable {name}": value for name, value in os.environ.items() if _VARIABLES.match(name)
    }
    facts |= {f"package {name}": release for name in _PACKAGES if (release := _release(name))}
    try:
        import torch  # noqa: PLC0415 - a commit may be measured without
    except ImportError as error:
        return {"facts": facts | {"torch build": f"none ({error})"}, "details": {}}
    check_torchvision(torch)
    built = torch.__config__.show()
    digest = hashlib.blake2b(built.encode(), digest_size=4).hexdigest()
    facts["torch build"] = f"{torch.__version__}, commit {torch.version.git_version[:10]}"
    facts["torch build settings"] = f"digest {digest}"
    facts |= {
        name: match[1] for name, pattern in _BUILT_WITH.items() if (match := pattern.search(built))
    }
    if hasattr(torch.backends, "cpu"):  # from torch 2.1 on
        facts["vector instructions"] = torch.backends.cpu.get_cpu_capability()
    facts["threads"] = (
        f"{torch.get_num_threads()} within operators, "
        f"{torch.get_num_interop_threads()} between them"
    )
    facts["CUDA of torch"] = torch.version.cuda or "not in this build"
    if torch.version.cuda:
        facts["cuDNN"] = _dotted(torch.backends.cudnn.version())
        facts["float32 products on CUDA"] = torch.get_float32_matmul_precision()
        # cuDNN rounds convolutions and LSTMs by default, but not products: both are facts.
        rounds = torch.backends.cudnn.allow_tf32
        facts["float32 of cuDNN"] = "may round to TF32" if rounds else "is not rounded"
    details = {
        "torch.__config__.show()": built,
        "torch.__config__.parallel_info()": torch.__config__.parallel_info(),
    }
    return {"facts": facts, "details": details}


def check_torchvision(torch: Any) -> None:
    """Check that torch and torchvision work together, if torchvision is installed.

    Raises:
        ImportError: they were built for different devices.
        Exception: whatever importing torchvision or calling its operator raises.
    """
    if _release("torchvision") is None:
        return
    import torchvision  # noqa: PLC0415 - of the environment

    builds = [str(package.__version__).partition("+")[2] for package in (torch, torchvision)]
    if builds[0] != builds[1]:
        raise ImportError(
            f"torch was built for {builds[0] or 'no device'} and torchvision for "
            f"{builds[1] or 'no device'}"
        )
    torchvision.ops.nms(torch.tensor([[0.0, 0.0, 1.0, 1.0]]), torch.tensor([1.0]), 0.5)


def _release(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _dotted(version: int | None) -> str:
    """Return the release behind a number of cuDNN: 92600 is 9.26.0, and 8902 was 8.9.2."""
    if not version:
        return "none"
    big = 10_000 if version >= 10_000 else 1000
    return f"{version // big}.{version % big // 100}.{version % 100}"


if __name__ == "__main__":
    print(json.dumps(answer()), flush=True)
    os._exit(0)  # skips Python's garbage collection at exit: a second after torch
