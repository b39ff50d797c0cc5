"""The jobs behind the commands: bench, nightly, and the checks before they start."""
