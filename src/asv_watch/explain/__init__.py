"""Names the operators that account for a difference."""
