"""Scripts that run by path in the measured environment, without this package."""

from pathlib import Path

_FOLDER = Path(__file__).parent

MEASURE = _FOLDER / "measure.py"
"""Measures cases, times by a sample on request."""
ENVIRONMENT = _FOLDER / "environment.py"
"""Prints Python, packages and variables as JSON."""
IMPORTING = _FOLDER / "importing.py"
"""Prints what importing a package costs as JSON."""
EXECUTED = _FOLDER / "executed.py"
"""Prints how much of each case's time passes in changed functions as JSON."""
LISTING = _FOLDER / "listing.py"
"""Writes the benchmarks of the suites, or of some of their modules, to a file as JSON."""
IMPORTED = _FOLDER / "imported.py"
"""Prints which modules of a commit the suites import from elsewhere as JSON."""
