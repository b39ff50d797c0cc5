"""What a history means: suspicions, changes, events, causes."""
