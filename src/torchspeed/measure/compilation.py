"""Compiling a model: whether this machine can, how, and where the compiled code is kept."""

import os
import shutil
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from torch import Tensor, nn


def cannot_compile(device: str) -> str | None:
    """Say why ``torch.compile`` cannot make code for ``device`` here, or return ``None``.

    It writes C++ for CPUs and Triton for GPUs, and C++ that calls either from Python.
    """
    from torch._inductor import config  # noqa: PLC0415 - a second, only where it is wanted

    # config.cpp.cxx: candidates in their order; None stands for a compiler of conda.
    candidates = [name for name in config.cpp.cxx if name]
    if not any(shutil.which(name) for name in candidates):
        return (
            f"torch.compile finds no C++ compiler ({', '.join(candidates)}): install g++ "
            "(Debian: apt install g++), or name one in CXX"
        )
    header = Path(sysconfig.get_path("include"), "Python.h")
    if not header.is_file():
        return (
            f"torch.compile needs {header}, which is missing: install Python's headers "
            "(Debian: apt install python3-dev)"
        )
    if torch.device(device).type == "cuda":
        from torch.utils._triton import has_triton  # noqa: PLC0415 - asks for the GPU

        if not has_triton():
            return (
                "torch.compile needs Triton and a GPU that it supports: pip install triton, "
                "as torch's own builds for CUDA bring it"
            )
    return None


def compiled(model: nn.Module, options: Mapping[str, bool]) -> Callable[[Tensor], Tensor]:
    """Return the model as ``torch.compile`` makes it: compiled at the first call of each pass.

    Shapes are static, and one thread compiles, so that its CPU time can be counted. A graph break
    is no error here: `torchspeed.measure.compile_cost` counts them.
    """
    from torch._inductor import config  # noqa: PLC0415 - a second, only where it is wanted

    config.compile_threads = 1
    made: Callable[[Tensor], Tensor] = torch.compile(model, dynamic=False, options=dict(options))
    return made


def keep_code_in(folder: Path) -> None:
    """Keep the code that this process compiles under ``folder``; an empty one is a cold start."""
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder)
    os.environ["TRITON_CACHE_DIR"] = str(folder / "triton")
