"""Exchanges results with other people: checks, merges, exports and submits them."""
