"""Says to valgrind, from inside the process that it executes, when to count.

valgrind watches for a sequence of instructions that does nothing on a processor: four
rotations by 128 bits in all, and an exchange of a register with itself (``valgrind.h``,
section on client requests). Sent from inside, a request always falls between the same two
instructions; sent from outside (``callgrind_control``) it does not, and counts differ.
torch ships two of callgrind's requests, but not the one that starts instrumentation.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import sys
from collections.abc import Callable

_X86_64 = bytes.fromhex(
    "4889f8"  # mov rax, rdi: address of the request
    "31d2"  # xor edx, edx: the answer where no valgrind listens
    "48c1c703 48c1c70d 48c1c73d 48c1c733"  # rol rdi by 3, 13, 61, 51
    "4887db"  # xchg rbx, rbx
    "4889d0"  # mov rax, rdx
    "c3"  # ret
)
_CALLGRIND = ord("C") << 24 | ord("T") << 16
"""Callgrind numbers its requests from here (``VG_USERREQ_TOOL_BASE('C','T')``)."""
_DUMP, _TOGGLE, _START = (_CALLGRIND + number for number in (0, 2, 4))


def unsupported() -> str:
    """Return why requests cannot be sent on this kind of machine, or nothing."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return (
            f"instructions are counted on Linux on x86-64, not {sys.platform} {platform.machine()}"
        )
    return ""


class Callgrind:
    """The requests, each a function without argument. On a bare processor they do nothing."""

    def __init__(self) -> None:
        """Place the sequence in memory of its own.

        Raises:
            OSError: the system lets no memory be written and executed.
        """
        self._code = mmap.mmap(
            -1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
        )
        self._code.write(_X86_64)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._code))
        self._send = ctypes.CFUNCTYPE(ctypes.c_ulong, ctypes.c_void_p)(address)
        self.start = self._request(_START)
        """Instrument from here on; until then the process runs several times faster."""
        self.toggle = self._request(_TOGGLE)
        """Begin to collect, or cease."""
        self.dump = self._request(_DUMP)
        """Write what was collected into the next file, and begin from zero."""

    def _request(self, number: int) -> Callable[[], int]:
        send = self._send
        words = (ctypes.c_ulong * 6)(number)  # the request and five arguments
        return lambda: send(ctypes.byref(words))
