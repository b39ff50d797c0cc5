"""Minutes on a machine with a GPU, prepared: what to measure there, most useful first.

Such a machine may be at hand for a quarter of an hour, without a package index and without git.
``prepare`` makes one folder at home that has all it takes; ``session`` measures there against the
clock and writes each result as it is measured; ``store`` turns what came back into stored results.
"""
