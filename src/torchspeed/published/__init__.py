"""Values that others published, as data: what was measured, on what, and where it says so.

There is a TOML file for each source, with the numbers as printed there. Reading them needs neither
torch nor asv, so that the site can show them next to ours.
"""

from torchspeed.published.values import PublishedSource, PublishedValue, load_sources

__all__ = ["PublishedSource", "PublishedValue", "load_sources"]
