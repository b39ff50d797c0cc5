"""Measures what is missing of a branch, most urgent first."""
