"""Runs asv: settings, environments, exports, publisher.

Elsewhere `asv_watch.records` alone imports asv, to read its files.
"""

import re

CONFIG, ENVIRONMENT, PYTHON = "ASV_WATCH_CONFIG", "ASV_WATCH_ENVIRONMENT", "ASV_WATCH_PYTHON"
"""Environment variables that keep what the command line chose (`asv_watch.options.choose`)."""
ENVIRONMENT_NAME = re.compile(r"[a-z]+-py\S+")
"""asv's name of an environment, such as ``virtualenv-py3.13-numpy``."""
