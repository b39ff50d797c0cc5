"""What a history means: changes, their causes, releases, precision."""
