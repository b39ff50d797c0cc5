"""A suite whose clock runs only while its cases work: its times are known to 0.2 %.

Tests of what is done with measurements need neither long samples nor many rounds with it, and
interference cannot fail them. That a real clock tells commits apart is checked in
`tests/compare/test_command.py`.
"""

CLOCK = """
import random

class Clock:
    now = 0.0

    @classmethod
    def read(cls):
        return cls.now
"""

SUITE = f"""{CLOCK}
class Suite:
    params = ["plain", "slow"]
    param_names = ["model"]
    timer = Clock.read
    sample_time = 0.002
    warmup_time = 0
    rounds = 1
    repeat = 5

    def time_it(self, model):
        try:
            from package import SECONDS
        except ModuleNotFoundError:  # asv installs nothing here; a comparison has it
            seconds = 0.001
        else:
            seconds = SECONDS[model]
        Clock.now += random.gauss(seconds, 0.002 * seconds)
"""


def timed(seconds: str, cases: int = 0) -> str:
    """A suite of one case, or of numbered ones, that take so many seconds: an expression."""
    return f"""{CLOCK}
class Suite:
    params = {list(range(cases))}
    timer = Clock.read
    sample_time, warmup_time = 0.002, 0

    def time_it(self, *number):
        seconds = {seconds}
        Clock.now += random.gauss(seconds, 0.002 * seconds)
"""


def package(slow: float = 0.001) -> str:
    """The package of a commit: seconds that the case ``slow`` takes; ``plain`` takes 1 ms."""
    return f"SECONDS = {{'plain': 0.001, 'slow': {slow}}}\n"
