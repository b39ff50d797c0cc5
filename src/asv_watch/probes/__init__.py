"""Scripts that run by path in the measured environment, without this package."""
