"""Histories of separate runs: segments, noise, change points and suspicions."""
