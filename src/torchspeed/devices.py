"""The devices that a case may name, and whether this machine has them."""

import torch

from torchspeed.errors import TorchspeedError


def missing_device(device: str) -> str | None:
    """Say why ``"cpu"``, ``"cuda"`` or ``"cuda:N"`` cannot be used here; None when it can.

    Raises:
        TorchspeedError: ``device`` is no name of a device that torchspeed measures on.
    """
    try:
        wanted = torch.device(device)
    except RuntimeError:
        wanted = None
    if wanted is None or wanted.type not in {"cpu", "cuda"}:
        raise TorchspeedError(f"device is {device!r}; it must be 'cpu', 'cuda' or 'cuda:N'")
    if wanted.type == "cpu":
        return None
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if count == 0:
        return f"device {device!r} is not on this machine: torch sees no CUDA device"
    if (wanted.index or 0) >= count:
        return f"device {device!r} is not on this machine: it has cuda:0 to cuda:{count - 1}"
    return None


def require_device(device: str) -> torch.device:
    """Return ``device`` as torch's own type.

    Raises:
        ValueError: it is not a device's name, or not on this machine.
    """
    reason = missing_device(device)
    if reason is not None:
        raise ValueError(f"{reason}; use 'cpu'")
    return torch.device(device)
