"""Compares the releases of a requirement."""
