"""Figures that others published, as data: what was measured, on what, and where it says so.

A TOML file a source, with the numbers as printed there. Reading needs neither
torch nor asv, so that the site can set these figures beside ours.
"""

from torchspeed.published.figures import Figure, Hardware, Source, load_sources

__all__ = ["Figure", "Hardware", "Source", "load_sources"]
