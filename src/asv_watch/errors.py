"""The one error that a person may see: what was wrong, and the remedy."""


class WatchError(Exception):
    """Bad input, or a folder that cannot be worked in.

    Its message is one line that names the input and the remedy. Entry points
    print it to standard error and exit with status 1, without a traceback.
    """


class PlaceError(WatchError):
    """Something is wrong with the disk, the memory, the network or the package index.

    What is measured is not to blame, so a night counts it against no commit.
    """
