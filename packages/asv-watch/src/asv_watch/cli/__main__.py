"""The process of the ``asv-watch`` command, which is also ``python -m asv_watch.cli``."""

import io
import os
import signal
import sys


def main() -> int:
    """Run the command and return its exit status.

    Ctrl-C prints one line even while Python imports the command, and while it ends.
    """
    try:
        _open_closed_streams()
        if isinstance(sys.stdout, io.TextIOWrapper):  # standard error escapes them by itself
            sys.stdout.reconfigure(errors="backslashreplace")
        from asv_watch.cli.main import main as run

        return run()
    except KeyboardInterrupt:
        print("asv-watch: interrupted", file=sys.stderr)
        return 130
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own end would print a traceback


def _open_closed_streams() -> None:
    """Open closed standard streams on the null device, or another file would take their place.

    Python sets them to ``None``, which no library expects.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)  # the lowest that is free: this stream's
            os.set_inheritable(descriptor, True)
            setattr(sys, name, open(descriptor, mode, encoding="utf-8"))  # noqa: SIM115


if __name__ == "__main__":
    sys.exit(main())
