"""Measures versions: their samples are interleaved, in rounds of new processes."""
