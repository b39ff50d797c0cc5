"""Scripts that run by path in the measured environment, without this package."""

from pathlib import Path

_FOLDER = Path(__file__).parent

MEASURE = _FOLDER / "measure.py"
ENVIRONMENT = _FOLDER / "environment.py"
IMPORTING = _FOLDER / "importing.py"
EXECUTED = _FOLDER / "executed.py"
LISTING = _FOLDER / "listing.py"
