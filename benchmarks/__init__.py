"""What torchspeed measures: a suite a file, each a family of models.

asv imports this package first, whichever benchmark it is about to run.
"""

from asv_runner.benchmarks.time import TimeBenchmark

# asv would otherwise call `setup` before every single call, and so time calls one by one: a
# millisecond's noise instead of a batch's. Our `setup` keeps what it built, so calling it once
# a sample is enough.
TimeBenchmark._setup_isolates_timed_calls = False
