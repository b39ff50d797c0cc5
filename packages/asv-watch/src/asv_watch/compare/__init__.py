"""Compares two versions, interleaved."""
