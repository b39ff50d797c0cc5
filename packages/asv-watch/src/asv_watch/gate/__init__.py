"""The gate of pull requests: which cases a diff touches, what is reported, and where."""
