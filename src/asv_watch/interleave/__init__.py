"""Interleaves samples of two versions on one core."""
