"""Forecasters once more, in NumPy, to check torch's layers by."""
