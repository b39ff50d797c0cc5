"""What is stored, and the readers that turn it into a history."""
