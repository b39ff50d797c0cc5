"""Forecasters once more, as loops over steps and sums in NumPy, to check torch's layers by."""
