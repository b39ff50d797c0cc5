"""Data sets and loaders: images and series, real ones first."""
