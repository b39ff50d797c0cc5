"""What torchspeed measures: a suite a file, each a family of models."""
