"""One run at a time in a checkout, and nothing left running or lying about after it."""
