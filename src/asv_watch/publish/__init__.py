"""Publishes the site, serves it, and reports its changes."""
