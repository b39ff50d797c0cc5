"""The driver as a program that an interrupt reaches.

A background job of a shell ignores interrupts, and so do its children: a test run in one would
wait for an end that never comes.
"""

INTERRUPTIBLE = """
import signal
import sys

from torchspeed.driver.__main__ import main

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main())
"""
"""For ``python -c``; the job's arguments follow."""
