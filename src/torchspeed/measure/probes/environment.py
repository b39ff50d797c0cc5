"""With what a process measures: Python, torch and how it was built, threads, variables.

Runs as a script in the environment that is measured, ``python -P where.py``, and prints
JSON; it needs nothing of this package, so that it can speak for commits from before it.
What the machine knows without torch is told by `torchspeed.watch.machine.facts`.
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
    """What can change a value without a change of the code, as text by name."""
    found = {
        "interpreter": f"{platform.python_implementation()} {platform.python_version()}, "
        f"{platform.python_compiler()}",
        "C library": " ".join(platform.libc_ver()).strip() or "unknown",
    }
    found |= {f"variable {name}": value for name, value in os.environ.items() if _told(name)}
    releases = {package: _release(package) for package in _PACKAGES}
    found |= {f"package {package}": release for package, release in releases.items() if release}
    try:
        import torch  # noqa: PLC0415 - a commit may be measured without
    except ImportError as error:
        return found | {"torch build": f"none ({error})"}
    built = torch.__config__.show()
    digest = hashlib.blake2b(built.encode(), digest_size=4).hexdigest()
    found["torch build"] = f"{torch.__version__}, commit {torch.version.git_version[:10]}"
    found["torch build settings"] = f"digest {digest}"
    found |= {name: said[1] for name, said in _searched(built).items()}
    found["vector instructions"] = torch.backends.cpu.get_cpu_capability()
    found["threads"] = (
        f"{torch.get_num_threads()} within operators, "
        f"{torch.get_num_interop_threads()} between them"
    )
    found["CUDA of torch"] = torch.version.cuda or "not in this build"
    if torch.version.cuda:
        found["cuDNN"] = _dotted(torch.backends.cudnn.version())
        found["float32 products on CUDA"] = torch.get_float32_matmul_precision()
    return found


def details() -> dict[str, str]:
    """What is recorded for people alone: asv_runner's release, and long texts of torch.

    The release is part of a benchmark's version too, by which values are told apart.
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


def _told(name: str) -> bool:
    return _VARIABLES.match(name) is not None


def _searched(built: str) -> dict[str, re.Match[str]]:
    found = {name: pattern.search(built) for name, pattern in _BUILT_WITH.items()}
    return {name: match for name, match in found.items() if match}


def _dotted(version: int | None) -> str:
    """The release behind a number of cuDNN: 92600 is 9.26.0, and 8902 was 8.9.2."""
    if not version:
        return "none"
    big = 10_000 if version >= 10_000 else 1000
    return f"{version // big}.{version % big // 100}.{version % 100}"


if __name__ == "__main__":
    print(json.dumps({"facts": facts(), "details": details()}))
