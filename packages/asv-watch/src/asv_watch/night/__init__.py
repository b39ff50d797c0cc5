"""Measures what a branch lacks, most urgent first."""
