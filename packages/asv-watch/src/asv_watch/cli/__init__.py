"""The ``asv-watch`` command."""
