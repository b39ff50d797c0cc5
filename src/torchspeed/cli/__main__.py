"""``python -m torchspeed.cli`` is the ``torchspeed`` command."""

import sys

from torchspeed.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
