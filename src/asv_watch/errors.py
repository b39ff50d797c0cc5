"""The errors that a person may see: what was wrong, and the remedy, in one line.

Entry points print them to standard error and exit with status 1, without a traceback.
What is said to *refuse* something raises one of them.
"""


class WatchError(Exception):
    """Bad input, or a folder that cannot be worked in; the message names the input."""


class MachineError(Exception):
    """Something is wrong with the disk, the memory, the network or the package index.

    What is measured is not to blame, so a night counts it against no commit.
    """
