"""Chooses the clock of a case's ratios: CPU time where other work kept its processes waiting.

On a busy machine wall time is mostly that of other work, and varies with it. CPU time is not, but
leaves out what a benchmark waits for, and adds up what its threads do at the same time. So it
replaces wall time only if all of this is true of a case:

- The suite has asv's default clock.
- In three quarters of its rounds, and of their samples, its process ran one thread, which never
  waited: the kernel counts how often a process gives its core away by itself
  (`asv_watch.probes.measure`). In the others it may have waited for something outside the case,
  such as a page of memory that the system had reclaimed.
- Wall time exceeds CPU time by `BUSY`, which can then only be the time of other work.

The choice ignores differences between the sides, and is the same for all sides and rounds.
"""

from collections.abc import Sequence

from asv_watch.comparison import Clock
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.processes import COMPUTING, DISTURBED, Round, SideResult

BUSY = 0.02
"""Share of the CPU time that other work added, from which the machine counts as busy."""


def clock_of(case: MeasurableCase, rounds: Sequence[Round]) -> Clock:
    """Return the clock from which the ratios of a case are computed."""
    numbers = [number for numbers in rounds for number in numbers if number]
    if any(number.clock for number in numbers):
        return "process"
    computing = sum(number.computes for number in numbers)
    if not case.can_fork or computing < COMPUTING * len(numbers):
        return ""  # a GPU computes while the process does nothing
    wall = sum(number.wall or 0.0 for number in numbers)
    cpu = sum(number.cpu or 0.0 for number in numbers)
    return "process" if wall > (1 + BUSY) * cpu else ""


def is_disturbed(case: MeasurableCase, rounds: Sequence[Round]) -> bool:
    """Tell whether other work takes so much of the time that it disturbs the CPU time too."""
    clock = clock_of(case, rounds)
    numbers = [n for numbers in rounds for n in numbers if n and n.wall is not None]
    wall = sum(number.wall or 0.0 for number in numbers)
    return wall - sum(seconds(number, clock) for number in numbers) > DISTURBED * wall


def seconds(number: SideResult, clock: Clock) -> float:
    """Return the seconds of a call by a clock, or the value of a case that times nothing."""
    return number.cpu if clock and number.cpu is not None else number.value
