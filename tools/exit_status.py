"""How a tool ends: a mistake is one line on standard error, without a traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable

from asv_watch.errors import MachineError, WatchError
from torchspeed.errors import TorchspeedError


def exit_status(work: Callable[[], object], kept: str = "nothing is stored") -> int:
    """Do the work and return the exit status: 0, 1 for a mistake, 130 for an interrupt.

    Args:
        work: What the tool does.
        kept: What an interrupt leaves, for its message.
    """
    try:
        work()
    except (TorchspeedError, MachineError, WatchError) as error:
        print(f"torchspeed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"torchspeed: interrupted; {kept}", file=sys.stderr)
        return 130
    return 0
