"""Measures what is missing of a commit."""
