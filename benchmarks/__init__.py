"""What torchspeed measures: each file has the suites of one family of models."""
