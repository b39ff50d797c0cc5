"""Prints what a process measures with: Python, torch and its build, threads, variables.

Runs as a script in the environment that is measured, ``python -P environment.py``, and prints
JSON; it needs nothing of this package, so that it works for commits from before it. Facts of the
machine, which need no torch, are read by `asv_watch.machine.facts`.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
from importlib import metadata

_VARIABLES = re.compile(
    r"(OMP|GOMP|KMP|MKL|OPENBLAS|ONEDNN|DNNL|MALLOC|TORCH|PYTORCH|CUDA|CUBLAS|CUDNN|NCCL|NVIDIA|TORCHINDUCTOR)_"
    r"|GLIBC_TUNABLES$|LD_PRELOAD$|PYTHON(HASHSEED|MALLOC|OPTIMIZE|NODEBUGRANGES)$"
)
_PACKAGES = ("torchvision", "numpy", "triton", "scikit-learn")
_BUILT_WITH = {
    "compiler": re.compile(r"- ((?:GCC|[Cc]lang|MSVC) .*)"),
    "BLAS": re.compile(r"BLAS_INFO=(\w+)"),
    "MKL": re.compile(r"Math Kernel Library Version ([\w.]+)"),
    "oneDNN": re.compile(r"MKL-DNN v([\w.]+)"),
    "OpenMP": re.compile(r"- OpenMP (\d+)"),
}
"""What to take from ``torch.__config__.show()``: name to pattern."""


def facts() -> dict[str, str]:
    """Return what can change a value without a change of the code, as text by name."""
    known = {
        "interpreter": f"{platform.python_implementation()} {platform.python_version()}, "
        f"{platform.python_compiler()}",
        "C library": " ".join(platform.libc_ver()).strip() or "unknown",
    }
    known |= {
        f"variable {name}": value for name, value in os.environ.items() if _VARIABLES.match(name)
    }
    releases = {package: _release(package) for package in _PACKAGES}
    known |= {f"package {package}": release for package, release in releases.items() if release}
    try:
        import torch  # noqa: PLC0415 - a commit may be measured without
    except ImportError as error:
        return known | {"torch build": f"none ({error})"}
    built = torch.__config__.show()
    digest = hashlib.blake2b(built.encode(), digest_size=4).hexdigest()
    known["torch build"] = f"{torch.__version__}, commit {torch.version.git_version[:10]}"
    known["torch build settings"] = f"digest {digest}"
    known |= _search(built)
    if hasattr(torch.backends, "cpu"):  # from torch 2.1 on
        known["vector instructions"] = torch.backends.cpu.get_cpu_capability()
    known["threads"] = (
        f"{torch.get_num_threads()} within operators, "
        f"{torch.get_num_interop_threads()} between them"
    )
    known["CUDA of torch"] = torch.version.cuda or "not in this build"
    if torch.version.cuda:
        known["cuDNN"] = _dotted(torch.backends.cudnn.version())
        known["float32 products on CUDA"] = torch.get_float32_matmul_precision()
    return known


def details() -> dict[str, str]:
    """Return what is recorded for people alone: asv_runner's release, and long texts of torch.

    The release is part of a benchmark's version too, which keeps values apart.
    """
    runner = {"asv_runner": _release("asv_runner") or "not installed"}
    try:
        import torch  # noqa: PLC0415 - a commit may be measured without
    except ImportError:
        return runner
    return runner | {
        "torch.__config__.show()": torch.__config__.show(),
        "torch.__config__.parallel_info()": torch.__config__.parallel_info(),
    }


def _release(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _search(built: str) -> dict[str, str]:
    """Find what torch was built with in its own description."""
    matches = {name: pattern.search(built) for name, pattern in _BUILT_WITH.items()}
    return {name: match[1] for name, match in matches.items() if match}


def _dotted(version: int | None) -> str:
    """Return the release behind a number of cuDNN: 92600 is 9.26.0, and 8902 was 8.9.2."""
    if not version:
        return "none"
    big = 10_000 if version >= 10_000 else 1000
    return f"{version // big}.{version % big // 100}.{version % 100}"


if __name__ == "__main__":
    print(json.dumps({"facts": facts(), "details": details()}))
