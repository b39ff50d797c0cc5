"""Runs asv: checks the place first, shows progress, measures only what is missing."""
