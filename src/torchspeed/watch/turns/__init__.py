"""Interleaved measurement: two sides take samples in turn on one core."""
