"""Finds the version that changed a case."""
