"""The checkout that a job works in, and what has to hold before it starts."""
