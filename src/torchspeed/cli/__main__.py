"""The process of the ``torchspeed`` command, which is also ``python -m torchspeed.cli``."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Run the command; Ctrl-C gets one line also while Python imports it, and when it ends.

    Returns:
        The exit status.
    """
    try:
        from torchspeed.cli.main import main as run

        return run()
    except KeyboardInterrupt:
        print("torchspeed: interrupted", file=sys.stderr)
        return 130
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own end would print a traceback


if __name__ == "__main__":
    sys.exit(main())
