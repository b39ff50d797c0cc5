"""The ``torchspeed`` command, a file for each subcommand."""
