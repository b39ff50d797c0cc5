"""Scripts that run by path in the measured environment, without this package."""

from pathlib import Path

_FOLDER = Path(__file__).parent

MEASURE = _FOLDER / "measure.py"
"""Measures cases; takes samples of a time on request."""
ENVIRONMENT = _FOLDER / "environment.py"
"""Prints Python, packages and variables as JSON."""
IMPORTING = _FOLDER / "importing.py"
"""Prints as JSON what importing a package costs."""
EXECUTED = _FOLDER / "executed.py"
"""Prints as JSON the share of each case's time that passes in changed functions."""
LISTING = _FOLDER / "listing.py"
"""Writes the benchmarks of the suites, or of some of their modules, to a file as JSON."""
