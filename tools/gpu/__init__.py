"""Measures on a GPU that is available for minutes only, the most useful results first.

Such a machine may be at hand for a quarter of an hour, without a package index and without git.
``prepare`` makes a folder at home with everything that is needed; ``session`` measures there
against the clock and writes each result as it is measured; ``store`` stores the results.
"""
