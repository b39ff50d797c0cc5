"""What was measured: records, and the readers of the stored files."""
