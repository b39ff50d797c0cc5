"""The machine that measures: facts, settings that matter for timing, load."""
