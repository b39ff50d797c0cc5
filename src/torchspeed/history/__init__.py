"""The tracked results as series over commits: read, compare, find changes."""
