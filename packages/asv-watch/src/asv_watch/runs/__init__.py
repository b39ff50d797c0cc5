"""Histories of separate runs: segments, noise, events and suspicions."""
