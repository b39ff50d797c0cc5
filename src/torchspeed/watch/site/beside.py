"""Work done in a process of its own, beside what this one does meanwhile."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from torchspeed.errors import TorchspeedError


@contextmanager
def beside(work: Callable[[], None]) -> Iterator[None]:
    """Start `work` in a forked process; on leaving, wait until it has ended.

    The process shares what is in memory now, however large, without a copy. If
    the body raises, the process is stopped.

    Raises:
        TorchspeedError: What `work` raised, or that its process was killed.
        OSError: What `work` raised.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(work, sender), daemon=True)
    process.start()
    sender.close()
    try:
        yield
        try:
            failure = receiver.recv()
        except EOFError:
            process.join()
            failure = TorchspeedError(
                f"the process that writes the site ended with status {process.exitcode}: what it "
                "printed says why; after a status of -9, which is mostly the kernel's for lack of "
                "memory, free some and publish again"
            )
        if failure is not None:
            raise failure
    finally:
        process.terminate()
        process.join()
        receiver.close()


def _run(work: Callable[[], None], sender: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent, interrupted, stops this one
    try:
        work()
        sender.send(None)
    except (TorchspeedError, OSError) as error:
        sender.send(error)
    finally:
        sender.close()
