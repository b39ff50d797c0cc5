"""Lets torch believe in a CUDA device whose work the CPU does, in every process of a session.

Python imports this module at its start if its folder is in ``PYTHONPATH``. It imports no torch.
Once somebody does, tensors and modules for ``cuda`` stay on the CPU, a graph's replay does
nothing, and what a process asks of the device gets an answer; once the file exists that
``IMITATED_GPU_HANGS`` names, the device never ends what it does. Stricter than a real device, it
refuses every process that was forked or has forked.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

_MEBIBYTE = 1 << 20
_find_spec = importlib.machinery.PathFinder.find_spec
_forks: list[str] = []
"""What this process has done that forbids it a GPU."""
os.register_at_fork(
    after_in_parent=lambda: _forks.append("has forked"),
    after_in_child=lambda: _forks.append("was forked"),
)


class _Finder:
    """Finds modules as Python does; torch is changed once it is imported."""

    def __call__(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = _find_spec(name, path, target)
        if name == "torch" and spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                _imitate(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


importlib.machinery.PathFinder.find_spec = _Finder()  # type: ignore[method-assign, assignment]


class _Event:
    def __init__(self, **options: bool) -> None:
        self._seconds = 0.0

    def record(self, *stream: object) -> None:
        self._seconds = time.perf_counter()

    def elapsed_time(self, other: _Event) -> float:
        return (other._seconds - self._seconds) * 1000

    def synchronize(self) -> None:
        pass

    def query(self) -> bool:
        return True


class _Stream:
    device_index = 0

    def __init__(self, *device: object) -> None:
        pass

    def wait_stream(self, other: _Stream) -> None:
        pass

    def wait_event(self, event: _Event) -> None:
        pass

    def synchronize(self) -> None:
        pass


class _Graph:
    def replay(self) -> None:
        pass


class _Profile:
    """A trace of three kernels, each of a microsecond."""

    def __init__(self, activities: Sequence[object] = ()) -> None:
        pass

    def __enter__(self) -> _Profile:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def export_chrome_trace(self, path: str) -> None:
        events = [{"cat": "kernel", "ts": 2.0 * n, "dur": 1.0} for n in range(30)]
        Path(path).write_text(json.dumps({"traceEvents": events}), encoding="utf-8")


@contextlib.contextmanager
def _nothing(*arguments: object) -> Iterator[None]:
    yield


def _set_device(device: object) -> None:
    if device == "cuda":
        raise ValueError("Expected a torch.device with a specified index or an integer")


def _synchronize(*device: object) -> None:
    while os.path.exists(os.environ.get("IMITATED_GPU_HANGS", "")):
        time.sleep(1)


def _use() -> None:
    if _forks:
        raise RuntimeError(f"this process {_forks[0]}, so it must not use a GPU")


def _imitate(torch: Any) -> None:
    """Replace what asks for a device, and put what would go there on the CPU."""
    answers: dict[str, Any] = {
        "is_available": True,
        "device_count": 1,
        "current_device": 0,
        "get_device_name": "Imitated GPU",
        "get_device_capability": (9, 0),
        "empty_cache": None,
        "reset_peak_memory_stats": None,
        "max_memory_allocated": 64 * _MEBIBYTE,
        "max_memory_reserved": 128 * _MEBIBYTE,
        "memory_allocated": 32 * _MEBIBYTE,
        "mem_get_info": (70 << 30, 80 << 30),
        "get_rng_state_all": [],
        "set_rng_state_all": None,
    }

    def answering(answer: Any) -> Callable[..., Any]:
        return lambda *arguments, **options: answer

    for name, answer in answers.items():
        setattr(torch.cuda, name, answering(answer))
    torch.profiler.profile = _Profile
    sys.modules["triton"] = None  # type: ignore[assignment]  # what it compiles needs a device
    torch.cuda.set_device, torch.cuda.synchronize = _set_device, _synchronize
    torch.cuda.Event, torch.cuda.Stream, torch.cuda.CUDAGraph = _Event, _Stream, _Graph
    torch.cuda.current_stream = torch.cuda.default_stream = lambda *device: _Stream()
    torch.cuda.stream = torch.cuda.device = torch.cuda.graph = _nothing

    def to_cpu(value: Any) -> Any:
        if isinstance(value, torch.device) and value.type == "cuda":
            _use()
            return torch.device("cpu")
        if isinstance(value, str) and value.startswith("cuda"):
            _use()
            return "cpu"
        return value

    class GeneratorOnCpu(torch.Generator):  # type: ignore[misc]
        def __new__(cls, device: object = "cpu") -> Any:
            return super().__new__(cls, device=to_cpu(device))

    torch.Generator = GeneratorOnCpu

    class OnCpu(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if function is torch.device:
                return function(*args, **(kwargs or {}))
            if function is torch.Tensor.pin_memory:
                return args[0]
            options = {name: to_cpu(value) for name, value in (kwargs or {}).items()}
            return function(*map(to_cpu, args), **options)

    OnCpu().__enter__()
