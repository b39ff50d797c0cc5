"""What callgrind executes: a Python that is the same whenever and wherever it runs.

``python -m torchspeed.measure.counted_process darnn:8 lenet5:8``, started by
`torchspeed.measure.instructions` alone. It prints a report in JSON.
"""

from __future__ import annotations

import json
import sys

from torchspeed.measure.orphans import die_with_parent


def _refuse_programs(event: str, _arguments: object) -> None:
    """Audit hook that lets no library start a program.

    Its output would come through a pipe in as many pieces as the scheduler likes, each
    in a block of its own, and the heap would differ from run to run: importing a torch
    for CUDA reads the list that ``ldconfig`` prints. The libraries take the error for
    an answer.
    """
    if event == "subprocess.Popen":
        raise OSError("no program may be started where instructions are counted")


def main() -> None:
    """Count the cases named on the command line."""
    die_with_parent()
    sys.addaudithook(_refuse_programs)
    # torch must find the hook in place.
    from torchspeed.measure.counted_cases import count  # noqa: PLC0415

    print(json.dumps(count(sys.argv[1:])))


if __name__ == "__main__":
    main()
