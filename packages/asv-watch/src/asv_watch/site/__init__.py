"""The static site: pages, data files, figures and feeds from a history."""
