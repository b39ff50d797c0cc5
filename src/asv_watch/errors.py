"""The one error that a person may see: what was wrong, and the remedy."""


class WatchError(Exception):
    """Bad input or a bad place to work in.

    Its message is one line that names the input and the remedy. Entry points
    print it to standard error and exit with status 1, without a traceback.
    """
